/** Describes the effects of removing a trusted root. */
import type { TrustedRoot } from '@measurement-exchange/contract';

/**
 * Says what happens to certificates after the root is removed. If no root applies to a party, the exchange does not
 * check the party's certificates.
 */
export function effectOfRemoval(root: TrustedRoot, roots: readonly TrustedRoot[]): string {
  const others = roots.filter(({ name }) => name !== root.name);
  const general = others.filter(({ party }) => party === undefined).length;
  if (root.party !== undefined) {
    if (others.some(({ party }) => party === root.party)) {
      return `Certificates of ${root.party} must then come from its other roots.`;
    }
    return general > 0
      ? `It is the only root of ${root.party}. Its certificates must then come from a root that is trusted for every party.`
      : `It is the only root of ${root.party}, and no root is trusted for every party. Its certificates are then not checked at all.`;
  }
  return general > 0
    ? `It is one of ${general + 1} roots that are trusted for every party. Parties without a root of their own must then have certificates of the others.`
    : 'It is the only root that is trusted for every party. Certificates of parties without a root of their own are then not checked at all.';
}
