import type { PartyHealth } from '@measurement-exchange/contract';
import { ago, moment } from '../../../format.ts';
import { Breakable } from '../../../parts/Breakable.tsx';
import { Chip } from '../../../parts/Chip.tsx';
import { VirtualTable } from '../../../parts/VirtualTable.tsx';
import { ROLE_WORDS, roleOf } from '../../../session/roles.ts';
import { countWords, openWords, statusOf } from '../health.ts';
import { LifeBar } from '../LifeBar.tsx';
import { PartyLink } from '../PartyLink.tsx';

/** A table of parties and their health. It shows counts and times, but no contents of measurements. */
export function PartyTable({ health }: { health: readonly PartyHealth[] }) {
  return (
    <VirtualTable className="rows parties" head={HEAD} rows={health} keyOf={({ name }) => name}>
      {(party) => <PartyCells health={party} />}
    </VirtualTable>
  );
}

const HEAD = (
  <>
    <th>Party</th>
    <th>Role</th>
    <th>State</th>
    <th>Last seen</th>
    <th>Certificate</th>
    <th className="num">Open work</th>
    <th className="num">Older than a day</th>
  </>
);

function PartyCells({ health }: { health: PartyHealth }) {
  const { name, displayName, lastSeen, certificate, openByAge } = health;
  const { older } = openByAge;
  return (
    <>
      <td>
        <PartyLink name={name} displayName={displayName} />
        <span className="sub mono">
          <Breakable text={name} />
        </span>
      </td>
      <td data-l="Role" className="nowrap">
        {ROLE_WORDS[roleOf(name)]}
      </td>
      <td data-l="State">
        <HealthChip health={health} />
      </td>
      <td data-l="Last seen" className="nowrap">
        {lastSeen ? <span title={moment(lastSeen)}>{ago(lastSeen)}</span> : 'never'}
      </td>
      <td data-l="Certificate">
        <LifeBar notAfter={certificate?.notAfter} />
      </td>
      <td data-l="Open work" className="num">
        {openWords(health)}
      </td>
      <td data-l="Older than a day" className={older.count > 0 ? 'num strong' : 'num muted'}>
        {countWords(older)}
      </td>
    </>
  );
}

export function HealthChip({ health }: { health: PartyHealth }) {
  switch (statusOf(health)) {
    case 'suspended':
      return <Chip icon="minus">Suspended</Chip>;
    case 'silent':
      return (
        <Chip tone="bad" icon="x">
          Silent
        </Chip>
      );
    case 'never':
      return <Chip icon="clock">Not seen yet</Chip>;
    default:
      return (
        <Chip tone="ok" icon="check">
          Seen
        </Chip>
      );
  }
}
