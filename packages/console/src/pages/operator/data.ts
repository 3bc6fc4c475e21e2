/** Reads data for several pages of the operator. The operator has no change feed, so these pages poll. */
import {
  PARTY_COLLECTIONS,
  type PartyCollection,
  type PartyHealth,
  type PrincipalBinding,
} from '@measurement-exchange/contract';
import type { ResponseOf } from '@measurement-exchange/sdk/client';
import { useQueryClient } from '@tanstack/react-query';
import { useResource } from '../../live/useResource.ts';
import { capital } from '../../parts/names.ts';
import { idOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';

export type Party = ResponseOf<'getParty'>;

/** The largest page size that the exchange allows. */
export const WHOLE_LIST = { pageSize: 1000 };

export const EVERY = { refetchInterval: 10_000 };

export function useParties() {
  return useResource(
    'parties',
    ['all'],
    async ({ client }, signal) => {
      const lists = PARTY_COLLECTIONS.map((collection) =>
        Array.fromAsync<Party>(client.listParties({ collection, ...WHOLE_LIST, signal })),
      );
      return (await Promise.all(lists)).flat();
    },
    EVERY,
  );
}

export function usePrincipals(resource?: string) {
  return useResource('principals', [resource ?? 'all'], ({ client }, signal) =>
    Array.fromAsync<PrincipalBinding>(
      client.listPrincipals({
        ...WHOLE_LIST,
        signal,
        ...(resource !== undefined && { 'filter.resource': resource }),
      }),
    ),
  );
}

export function useTrustedRoots() {
  return useResource('trustedRoots', ['all'], ({ client }, signal) =>
    Array.fromAsync(client.listTrustedRoots({ ...WHOLE_LIST, signal })),
  );
}

export function useRefresh(): () => Promise<void> {
  const queries = useQueryClient();
  const { principal } = useSession();
  return () => queries.invalidateQueries({ queryKey: [principal] });
}

export const partyPath = (name: string) => `/parties/${name}`;

export const collectionOf = (name: string) => name.split('/')[0] as PartyCollection;

/** Returns the sort position of a party: consumers come first, then providers, then duchies. */
const placeOf = (name: string) => PARTY_COLLECTIONS.indexOf(collectionOf(name));

/** Reads the health of all parties. It contains counts and times, but no contents of measurements. */
export function useHealth() {
  return useResource(
    'partyHealth',
    ['all'],
    async ({ client }, signal) => {
      const health = await Array.fromAsync<PartyHealth>(client.listPartyHealth({ pageSize: 100, signal }));
      return health.sort((a, b) => placeOf(a.name) - placeOf(b.name));
    },
    EVERY,
  );
}

/**
 * Returns a function that looks up the display name of a party. For a party without a display name, such as the
 * operator, the function returns the capitalized ID.
 */
export function useDisplayNames(): (name: string) => string {
  const { data } = useHealth();
  return (name) => data?.find((party) => party.name === name)?.displayName || capital(idOf(name));
}

export function useDoctor() {
  return useResource('doctor', ['last'], ({ client }, signal) => client.getDoctor({ signal }), {
    refetchInterval: 3000,
  });
}

export function useExchangeStatus() {
  return useResource(
    'exchangeStatus',
    ['now'],
    ({ client }, signal) => client.getExchangeStatus({ signal }),
    EVERY,
  );
}
