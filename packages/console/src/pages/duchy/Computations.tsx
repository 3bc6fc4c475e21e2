/** All computations of the duchy, most recently changed first. */
import { COMPUTATION_STATES, type ComputationState } from '@measurement-exchange/contract';
import { useSearch } from '@tanstack/react-router';
import { PageHead } from '../../parts/PageHead.tsx';
import { RowList } from '../../parts/RowList.tsx';
import { Segment } from '../../parts/Segment.tsx';
import { Empty } from '../../parts/states.tsx';
import { STATES } from './ComputationChip.tsx';
import { ComputationTable } from './ComputationTable.tsx';
import { useComputations } from './useComputations.ts';

const PAGE_SIZE = 50;

export default function Computations() {
  const { state } = useSearch({ strict: false }) as { state?: ComputationState };
  const chosen = COMPUTATION_STATES.find((each) => each === state);
  const pages = useComputations(PAGE_SIZE, chosen);
  return (
    <>
      <PageHead
        title="Computations"
        meta={['What you compute together with other duchies. None of it shows a person']}
      />
      <section className="card">
        <header>
          <h2>{chosen ? STATES[chosen].word : 'All'}, last changed first</h2>
          <Segment
            label="State"
            options={[
              { to: '/computations', text: 'All', current: chosen === undefined },
              ...COMPUTATION_STATES.map((each) => ({
                to: `/computations?state=${each}`,
                text: STATES[each].word,
                current: each === chosen,
              })),
            ]}
          />
        </header>
        <RowList
          pages={pages}
          empty={
            <Empty title={chosen ? 'None is in this state' : 'No computation yet'}>
              <p>
                One appears here as soon as an advertiser asks for a figure that several publishers share.
              </p>
            </Empty>
          }
        >
          {(rows, readMore) => <ComputationTable key={chosen} rows={rows} onNearEnd={readMore} />}
        </RowList>
      </section>
    </>
  );
}
