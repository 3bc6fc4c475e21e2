/** All parties of the exchange. */
import { A } from '../../../parts/A.tsx';
import { count } from '../../../parts/format.ts';
import { Icon } from '../../../parts/Icon.tsx';
import { PageHead } from '../../../parts/PageHead.tsx';
import { Empty, Loaded } from '../../../parts/states.tsx';
import { useFilters } from '../../../parts/useFilters.ts';
import { ROLE_WORDS, roleOf } from '../../../session/roles.ts';
import { type Party, useParties } from '../data.ts';
import '../operator.css';
import { PartyLink } from '../PartyLink.tsx';
import { PartyChip } from '../party/Party.tsx';

export default function Parties() {
  const query = useParties();
  const filters = useFilters();
  const text = filters.get('find').toLowerCase();
  const isFound = ({ name, displayName = '' }: Party) =>
    name!.toLowerCase().includes(text) || displayName.toLowerCase().includes(text);
  return (
    <>
      <PageHead
        title="Parties"
        actions={
          <A className="btn main" to="/parties/add">
            <Icon name="plus" /> Add a party
          </A>
        }
      />
      <section className="card">
        <header>
          <input
            className="in find-in"
            aria-label="Find a party"
            placeholder="Find a party"
            value={filters.get('find')}
            onChange={(event) => filters.set({ find: event.target.value })}
          />
        </header>
        <Loaded query={query}>
          {(parties) => {
            const found = parties.filter(isFound);
            return found.length === 0 ? (
              <Empty title="No party matches" />
            ) : (
              <>
                <PartyTable parties={found} />
                <footer>
                  <span>
                    {count(found.length)} of {count(parties.length)} parties
                  </span>
                </footer>
              </>
            );
          }}
        </Loaded>
      </section>
    </>
  );
}

function PartyTable({ parties }: { parties: readonly Party[] }) {
  return (
    <table className="fold">
      <thead>
        <tr>
          <th>Party</th>
          <th>Role</th>
          <th>State</th>
        </tr>
      </thead>
      <tbody>
        {parties.map(({ name, displayName, state }) => (
          <tr key={name}>
            <td>
              <PartyLink name={name!} displayName={displayName} />
              <span className="sub mono">{name}</span>
            </td>
            <td data-l="Role">{ROLE_WORDS[roleOf(name!)]}</td>
            <td data-l="State">
              <PartyChip state={state} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
