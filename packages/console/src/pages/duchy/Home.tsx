/** The duchy's home page: computations that need attention, and the latest computations. */
import type { PartySummary } from '@measurement-exchange/contract';
import { count } from '../../format.ts';
import { useSummary } from '../../live/useSummary.ts';
import { A } from '../../parts/A.tsx';
import { AttentionCard } from '../../parts/Attention.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { RowList } from '../../parts/RowList.tsx';
import { Empty } from '../../parts/states.tsx';
import { useOwnName } from '../../parts/useOwnName.ts';
import { STATES } from './ComputationChip.tsx';
import { ComputationTable } from './ComputationTable.tsx';
import { useComputations } from './useComputations.ts';

const SHOWN = 8;

export default function Home() {
  const { data } = useSummary();
  const pages = useComputations(SHOWN);
  return (
    <>
      <PageHead title={useOwnName()} meta={factsOf(data)} />
      <AttentionCard />
      <section className="card">
        <header>
          <h2>Computations</h2>
          <A to="/computations">All computations</A>
        </header>
        <RowList
          pages={{ ...pages, rows: pages.rows?.slice(0, SHOWN) }}
          isGlance
          empty={
            <Empty title="No computation yet">
              <p>
                One appears here as soon as an advertiser asks for a figure that several publishers share.
              </p>
            </Empty>
          }
        >
          {(rows) => <ComputationTable rows={rows} />}
        </RowList>
      </section>
    </>
  );
}

/** Returns a text such as `2 computing` for each nonfinal state that has computations. */
function factsOf(summary: PartySummary | undefined): string[] {
  const states = summary?.computations?.states ?? [];
  const open = states.filter(({ state, count }) => count > 0 && !FINAL.has(state));
  if (open.length === 0 && summary) return ['Nothing is open'];
  return open.map(({ state, count: number, more }) => {
    const { word } = STATES[state as keyof typeof STATES];
    return `${count(number)}${more ? '+' : ''} ${word.toLowerCase()}`;
  });
}
const FINAL: ReadonlySet<string> = new Set(['SUCCEEDED', 'FAILED', 'CANCELLED']);
