/** The page of the principals. A principal binds the subject of an issuer's tokens to a party or to the operator. */

import { PageHead } from '../../../parts/PageHead.tsx';
import { Empty, Loaded } from '../../../parts/states.tsx';
import { useFilters } from '../../../parts/useFilters.ts';
import { usePrincipals } from '../data.ts';
import '../operator.css';
import { BindForm } from './BindForm.tsx';
import { NobodyBound } from './NobodyBound.tsx';
import { PrincipalTable } from './PrincipalTable.tsx';

export default function Principals() {
  const filters = useFilters();
  const text = filters.get('find').toLowerCase();
  const query = usePrincipals();
  const isFound = (...values: string[]) => values.some((value) => value.toLowerCase().includes(text));
  return (
    <>
      <PageHead title="Principals" meta={['Whose tokens speak for whom']} />
      <div className="cols c75 top-aligned">
        <section className="card">
          <header>
            <h2>Sign-ins</h2>
            <input
              className="in find-in"
              aria-label="Find a party, subject or issuer"
              placeholder="Find a party, subject or issuer"
              value={filters.get('find')}
              onChange={(event) => filters.set({ find: event.target.value })}
            />
          </header>
          <Loaded query={query}>
            {(principals) => {
              const found = principals.filter(({ resource, subject, issuer }) =>
                isFound(resource, subject, issuer),
              );
              if (principals.length === 0) return <NobodyBound />;
              return found.length === 0 ? (
                <Empty title="No sign-in matches" />
              ) : (
                <>
                  <PrincipalTable principals={found} />
                  <footer>
                    <span>
                      {found.length} of {principals.length}
                    </span>
                  </footer>
                </>
              );
            }}
          </Loaded>
        </section>
        <BindForm key={filters.get('bind')} party={filters.get('bind')} />
      </div>
    </>
  );
}
