/** The requests to the publishers, and their states. */
import type { Explanation, Requisition } from '@measurement-exchange/contract';
import { ago, longDuration, moment } from '../../../format.ts';
import { RequestChip } from '../../../parts/Chip.tsx';
import { PublisherTag } from '../../../parts/Publisher.tsx';

export function Publishers({
  requisitions,
  explanation,
  now,
}: {
  requisitions: readonly Requisition[];
  explanation: Explanation | undefined;
  now: number;
}) {
  const seen = new Map(explanation?.waitingFor.map(({ party, lastSeen }) => [party, lastSeen]));
  const isSeen = requisitions.some(({ dataProvider = '' }) => seen.get(dataProvider) !== undefined);
  return (
    <section className="card">
      <header>
        <h2>Publishers</h2>
      </header>
      <table className="fold dense">
        <thead>
          <tr>
            <th>Publisher</th>
            <th>State</th>
            {isSeen && <th>Last seen</th>}
            <th>Answer</th>
          </tr>
        </thead>
        <tbody>
          {requisitions.map((requisition) => {
            const lastSeen = seen.get(requisition.dataProvider ?? '');
            return (
              <tr key={requisition.name}>
                <td>
                  <PublisherTag name={requisition.dataProvider ?? requisition.name!} />
                </td>
                <td data-l="State">
                  <RequestChip state={requisition.state} deferral={requisition.deferral} />
                </td>
                {isSeen && (
                  <td data-l="Last seen" className="muted">
                    {lastSeen && ago(lastSeen, now)}
                  </td>
                )}
                <td data-l="Answer">{wordsOf(requisition)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function wordsOf({ state, deferral, refusal, createTime, updateTime, fulfillmentContext }: Requisition) {
  if (refusal) {
    return (
      <>
        <code>{refusal.justification}</code> <bdi>{refusal.message}</bdi>
      </>
    );
  }
  if (state === 'UNFULFILLED' && deferral) {
    return (
      <>
        until {moment(deferral.until)}: <bdi>{deferral.reason}</bdi>
      </>
    );
  }
  if (state !== 'FULFILLED' || !createTime || !updateTime) return null;
  const warnings = fulfillmentContext?.warnings ?? [];
  return (
    <>
      after {longDuration(Date.parse(updateTime) - Date.parse(createTime))}
      {warnings.map((warning) => (
        <bdi key={warning} className="sub">
          {warning}
        </bdi>
      ))}
    </>
  );
}
