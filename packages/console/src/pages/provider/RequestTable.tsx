/**
 * A table of requests. If the console has the provider's keys, the table also shows the decrypted part of each
 * question.
 */

import { ago, dateRange, moment } from '../../format.ts';
import { A } from '../../parts/A.tsx';
import { RequestChip } from '../../parts/Chip.tsx';
import { capital } from '../../parts/names.ts';
import { VirtualTable } from '../../parts/VirtualTable.tsx';
import { idOf } from '../../session/roles.ts';
import { costWords } from './budgetDays.ts';
import { useReference } from './eventGroups.ts';
import { type RequestRow, useCosts, useHeld, useIsCharged, useOpenedRequest } from './requests.ts';

export function RequestTable({
  rows,
  onNearEnd,
}: {
  rows: readonly RequestRow[];
  onNearEnd?: (() => void) | undefined;
}) {
  const costs = useCosts();
  const held = useHeld();
  return (
    <VirtualTable
      rows={rows}
      keyOf={({ name }) => name}
      onNearEnd={onNearEnd}
      head={
        <>
          <th>From</th>
          <th>Request</th>
          <th>Events</th>
          <th>State</th>
          <th className="num">Cost a day</th>
          <th className="num">Age</th>
        </>
      }
    >
      {(row) => <Cells row={row} cost={costs.get(row.name)} isHeld={held.has(row.name)} />}
    </VirtualTable>
  );
}

function Cells({ row, cost, isHeld }: { row: RequestRow; cost: number | undefined; isHeld: boolean }) {
  return (
    <>
      <td>
        <A to={`/requests/${idOf(row.name)}`}>
          <bdi>{capital(row.consumer) || idOf(row.name)}</bdi>
        </A>
      </td>
      <td data-l="Request">{row.isRemoved ? <span className="muted">content removed</span> : row.what}</td>
      <td data-l="Events">{!row.isRemoved && <Events name={row.name} />}</td>
      <td data-l="State">
        <RequestChip state={row.state} deferral={row.deferral} isHeld={isHeld} />
      </td>
      <td className="num" data-l="Cost a day">
        {cost === undefined ? <NoCost row={row} /> : costWords(cost)}
      </td>
      <td className="num muted" data-l="Age">
        <span title={row.createTime && moment(row.createTime)}>{row.createTime && ago(row.createTime)}</span>
      </td>
    </>
  );
}

/** Shown if no cost of a request is known. Shows nothing unless the ledger certainly has no charge for the request. */
function NoCost({ row: { name, state } }: { row: RequestRow }) {
  if (useIsCharged()(name) !== false) return null;
  return <span className="muted">{state === 'UNFULFILLED' ? 'not yet' : 'none'}</span>;
}

function Events({ name }: { name: string }) {
  const { data, error, isLoading } = useOpenedRequest(name);
  if (isLoading) return <span className="sk w1" />;
  const [part, ...more] = data?.spec?.parts ?? [];
  if (part === undefined) {
    const why = data?.error ?? error?.message;
    return why ? <span className="bad">cannot be decoded</span> : <span className="muted">sealed</span>;
  }
  return (
    <>
      {part.eventGroup === undefined ? 'the population' : <Reference name={part.eventGroup} />}
      {more.length > 0 && ` and ${more.length} more`}
      <span className="sub">
        {part.interval && dateRange(part.interval.start, part.interval.end)}{' '}
        {part.filter && (
          <code>
            <bdi>{part.filter}</bdi>
          </code>
        )}
      </span>
    </>
  );
}

export function Reference({ name }: { name: string }) {
  const reference = useReference(name);
  return (
    <code>
      <bdi>{reference ?? idOf(name)}</bdi>
    </code>
  );
}
