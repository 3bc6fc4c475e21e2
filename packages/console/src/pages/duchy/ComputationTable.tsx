import { ago, moment } from '../../format.ts';
import { A } from '../../parts/A.tsx';
import { listed, partyName, useNames } from '../../parts/names.ts';
import { VirtualTable } from '../../parts/VirtualTable.tsx';
import { idOf } from '../../session/roles.ts';
import { ComputationChip } from './ComputationChip.tsx';
import { type ComputationRow, ROLES } from './computations.ts';

export function ComputationTable({
  rows,
  onNearEnd,
}: {
  rows: readonly ComputationRow[];
  onNearEnd?: (() => void) | undefined;
}) {
  const nameOf = useNames();
  return (
    <VirtualTable
      rows={rows}
      keyOf={({ name }) => name}
      onNearEnd={onNearEnd}
      head={
        <>
          <th>Computation</th>
          <th>Your role</th>
          <th>State</th>
          <th>Waits for</th>
          <th className="num">Changed</th>
        </>
      }
    >
      {({ name, consumer, what, role, state, waitsFor, updateTime }) => (
        <>
          <td>
            <A to={`/computations/${idOf(name)}`}>{what}</A>
            <span className="sub">
              for <bdi>{partyName(consumer)}</bdi> · <code>{idOf(name)}</code>
            </span>
          </td>
          <td data-l="Your role" className="nowrap">
            {ROLES[role]}
          </td>
          <td data-l="State">
            <ComputationChip state={state} />
          </td>
          <td data-l="Waits for">
            {waitsFor.length > 0 ? (
              listed(waitsFor.slice(0, 3).map(nameOf))
            ) : (
              <span className="muted">nobody</span>
            )}
          </td>
          <td className="num muted" data-l="Changed">
            <span title={updateTime && moment(updateTime)}>{updateTime && ago(updateTime)}</span>
          </td>
        </>
      )}
    </VirtualTable>
  );
}
