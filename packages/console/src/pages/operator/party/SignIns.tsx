import { A } from '../../../parts/A.tsx';
import { Loaded } from '../../../parts/states.tsx';
import { usePrincipals } from '../data.ts';
import { NobodyBound } from '../principals/NobodyBound.tsx';
import { PrincipalTable } from '../principals/PrincipalTable.tsx';

export function SignIns({ party }: { party: string }) {
  const query = usePrincipals(party);
  return (
    <section className="card">
      <header>
        <h2>Who speaks for it</h2>
        <A className="btn sm" to={`/principals?bind=${party}`}>
          Bind a sign-in
        </A>
      </header>
      <Loaded query={query}>
        {(principals) =>
          principals.length === 0 ? <NobodyBound /> : <PrincipalTable principals={principals} />
        }
      </Loaded>
    </section>
  );
}
