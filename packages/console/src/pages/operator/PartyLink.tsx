import { A } from '../../parts/A.tsx';
import { idOf } from '../../session/roles.ts';
import { partyPath } from './data.ts';

/** A party with a link to its page. The name may come from a stranger, so it cannot reorder its neighbors. */
export function PartyLink({ name, displayName }: { name: string; displayName?: string | undefined }) {
  if (!name.includes('/')) return <bdi>{name}</bdi>;
  return (
    <A to={partyPath(name)}>
      <bdi>{displayName || idOf(name)}</bdi>
    </A>
  );
}
