import { Empty } from '../../../parts/states.tsx';
import { useSession } from '../../../session/session.ts';

/** Explains that no token subject is bound to a party. The demo parties of a development exchange need no binding. */
export function NobodyBound() {
  const { servedBy } = useSession();
  return (
    <Empty title="Nobody is bound">
      <p>
        {servedBy.development
          ? 'The demo parties of a development exchange sign in without a binding. Tokens of other issuers need one.'
          : 'No token is accepted for a party until a subject is bound to it.'}
      </p>
    </Empty>
  );
}
