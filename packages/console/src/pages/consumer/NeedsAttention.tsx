/** Lists the measurements that need attention. The reasons are the same as on the page of each measurement. */
import type { Attention } from '@measurement-exchange/contract';
import { useQuestion } from '../../live/useOpened.ts';
import { useResource } from '../../live/useResource.ts';
import { A } from '../../parts/A.tsx';
import { AttentionCard, AttentionRow } from '../../parts/Attention.tsx';
import { Icon } from '../../parts/Icon.tsx';
import { useNames } from '../../parts/names.ts';
import { idOf } from '../../session/roles.ts';
import { whyItWaits } from './one/why.ts';
import { whyItEnded } from './one/whyEnded.ts';
import { titleOf } from './words.ts';

export const NeedsAttention = () => <AttentionCard Work={MeasurementItem} />;

function MeasurementItem({ one }: { one: Attention }) {
  const { name } = one;
  const nameOf = useNames();
  const { data: opened } = useQuestion(name);
  const { data } = useResource('requisitions', ['attention', name], async ({ client }, signal) => ({
    explanation: await client.explainMeasurement({ name, signal }),
    requisitions: await Array.fromAsync(client.listMeasurementRequisitions({ parent: name, signal })),
  }));
  if (data === undefined) return <AttentionRow one={one} />;
  const { explanation, requisitions } = data;
  const question = opened?.question;
  const waits = whyItWaits(explanation, { requisitions, reports: [], nameOf, now: Date.now() });
  const why = waits ?? whyItEnded(explanation, { requisitions, question, nameOf });
  // Show the row without a reason if `why` describes a normal wait, because a normal wait does not explain why the
  // measurement needs attention.
  if (why === undefined || why.tone === 'run') return <AttentionRow one={one} />;
  return (
    <li>
      <Icon name={why.icon} tone={why.tone === 'bad' ? 'bad' : 'warn'} />
      <div>
        <b>{why.title}</b>
        <p className="sm soft">
          “<bdi>{titleOf({ name }, question)}</bdi>” {waits ? 'waits' : 'failed'}. {why.text}{' '}
          {why.quote && <q dir="auto">{why.quote}</q>} {why.todo}
        </p>
      </div>
      <div className="acts">
        <A className="btn sm" to={`/measurements/${idOf(name)}`}>
          See why
        </A>
      </div>
    </li>
  );
}
