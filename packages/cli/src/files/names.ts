/** Parses names that users type. */
import { isId, PARTY_COLLECTIONS, type PartyName, parsePartyName } from '@measurement-exchange/contract';

export function partyName(name: string): PartyName {
  const party = parsePartyName(name);
  if (party !== undefined) return party;
  throw new Error(
    `${name} is not the name of a party: write ${PARTY_COLLECTIONS.map((c) => `${c}/<id>`).join(', ')}, ` +
      'the ID in letters, digits, - and _, 63 at most.',
  );
}

export function certificateName(name: string): string {
  const [collection, party, certificates, id, ...rest] = name.split('/');
  const owned = certificates === 'certificates' && isId(id ?? '') && rest.length === 0;
  if (owned && parsePartyName(`${collection}/${party}`) !== undefined) return name;
  throw new Error(
    `${name} is not the name of a certificate: it looks like dataProviders/<id>/certificates/<id>, ` +
      'and mex admin certificates list <party> prints it.',
  );
}

/**
 * Returns a function that expands the ID of a resource in a top-level collection to the full name. That function
 * returns full names unchanged.
 */
export const inFull = (collection: string) => (text: string) =>
  text.includes('/') ? text : `${collection}/${text}`;

export function nameIn(collection: string, name: string): string {
  const [first, id, ...rest] = name.split('/');
  if (first === collection && isId(id ?? '') && rest.length === 0) return name;
  throw new Error(`${name} is not one of ${collection}: it looks like ${collection}/<id>.`);
}
