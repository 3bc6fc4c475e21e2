/** Parses names that users type. */
import { isId, parseName, WILDCARD } from '@measurement-exchange/contract';

const KINDS = {
  measurementConsumers: 'measurementConsumer',
  dataProviders: 'dataProvider',
  duchies: 'duchy',
} as const;

export type Collection = keyof typeof KINDS;
export const COLLECTIONS = Object.keys(KINDS) as Collection[];

interface PartyName {
  name: string;
  collection: Collection;
  id: string;
  /** The query parameter that sets the ID of a new party, such as `dataProviderId`. */
  idParameter: string;
}

export function parsePartyName(name: string): PartyName | undefined {
  const [collection, id = ''] = name.split('/') as [Collection, string?];
  const kind = KINDS[collection];
  if (kind === undefined || id === WILDCARD || parseName(kind, name) === undefined) return undefined;
  return { name, collection, id, idParameter: `${kind}Id` };
}

export function partyName(name: string): PartyName {
  const party = parsePartyName(name);
  if (party !== undefined) return party;
  throw new Error(
    `${name} is not the name of a party: write ${COLLECTIONS.map((c) => `${c}/<id>`).join(', ')}, ` +
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

/** Expands the ID of a resource in a top-level collection to its full name. Returns full names unchanged. */
export const inFull = (collection: string) => (text: string) =>
  text.includes('/') ? text : `${collection}/${text}`;

/** Returns the name if it is in the collection, such as `principals/x` or `trustedRoots/x`. Throws otherwise. */
export function nameIn(collection: string, name: string): string {
  const [first, id, ...rest] = name.split('/');
  if (first === collection && isId(id ?? '') && rest.length === 0) return name;
  throw new Error(`${name} is not one of ${collection}: it looks like ${collection}/<id>.`);
}
