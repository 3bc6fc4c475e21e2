import { A } from '../../parts/A.tsx';
import { partyPath, useDisplayNames } from './data.ts';

/** A link to a party's page. `<bdi>` keeps the party's name from reordering the text around it. */
export function PartyLink({ name, displayName }: { name: string; displayName?: string | undefined }) {
  const nameOf = useDisplayNames();
  if (!name.includes('/')) return <bdi>{name}</bdi>;
  return (
    <A to={partyPath(name)}>
      <bdi>{displayName || nameOf(name)}</bdi>
    </A>
  );
}
