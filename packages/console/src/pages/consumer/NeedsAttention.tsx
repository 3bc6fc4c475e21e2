/** What needs the consumer: measurements that failed lately, and open ones that wait for somebody. */
import { useQuestion } from '../../companion/useOpened.ts';
import { useResource } from '../../live/useResource.ts';
import { A } from '../../parts/A.tsx';
import { Icon } from '../../parts/Icon.tsx';
import { useNames } from '../../parts/names.ts';
import { idOf } from '../../session/roles.ts';
import type { Row } from './list/rows.ts';
import { whyItWaits } from './one/why.ts';
import { whyItEnded } from './one/whyEnded.ts';
import { titleOf } from './words.ts';

const LATELY_MS = 3 * 86_400_000;
const MOST = 4;

export function NeedsAttention({ rows }: { rows: readonly Row[] }) {
  const isLate = ({ updateTime }: Row) => Date.now() - Date.parse(updateTime) < LATELY_MS;
  const failed = rows.filter((row) => row.state === 'FAILED' && isLate(row) && !row.isRemoved);
  const waiting = rows.filter(
    ({ state }) => state === 'AWAITING_REQUISITION_FULFILLMENT' || state === 'COMPUTING',
  );
  const shown = [...failed.slice(0, MOST), ...waiting.slice(0, MOST)];
  if (shown.length === 0) return null;
  return (
    <section className="card attention" aria-labelledby="attention">
      <header>
        <h2 id="attention">Needs your attention</h2>
      </header>
      <ul className="att">
        {shown.map((row) => (
          <Item key={row.name} row={row} />
        ))}
      </ul>
    </section>
  );
}

function Item({ row }: { row: Row }) {
  const nameOf = useNames();
  const { data: opened } = useQuestion(row.name);
  const { data } = useResource('requisitions', ['attention', row.name], async ({ client }, signal) => ({
    explanation: await client.explainMeasurement({ name: row.name, signal }),
    requisitions: await Array.fromAsync(client.listMeasurementRequisitions({ parent: row.name, signal })),
  }));
  if (data === undefined) return null;
  const { explanation, requisitions } = data;
  const question = opened?.question;
  const waits = whyItWaits(explanation, { requisitions, reports: [], nameOf, now: Date.now() });
  const why = waits ?? whyItEnded(explanation, { requisitions, question, nameOf });
  // A measurement that takes its usual course needs nobody.
  if (why === undefined || why.tone === 'run') return null;
  return (
    <li>
      <Icon name={why.icon} tone={why.tone === 'bad' ? 'bad' : 'warn'} />
      <div>
        <b>{why.title}</b>
        <p className="sm soft">
          “<bdi>{titleOf(row, question)}</bdi>” {waits ? 'waits' : 'failed'}. {why.text}{' '}
          {why.quote && <q dir="auto">{why.quote}</q>} {why.todo}
        </p>
      </div>
      <div className="acts">
        <A className="btn sm" to={`/measurements/${idOf(row.name)}`}>
          See why
        </A>
      </div>
    </li>
  );
}
