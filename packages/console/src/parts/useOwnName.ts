import { useResource } from '../live/useResource.ts';
import { idOf } from '../session/roles.ts';
import { useSession } from '../session/session.ts';
import { capital } from './names.ts';

/** Returns the display name of the party that uses the page. */
export function useOwnName(): string {
  const { principal } = useSession();
  const { data } = useResource(
    principal.split('/')[0]!,
    ['own'],
    ({ client, principal }, signal) => client.getParty({ name: principal, signal }),
    { enabled: principal !== 'operator' },
  );
  return data?.displayName || capital(idOf(principal));
}
