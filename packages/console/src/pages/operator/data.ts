/** Reads what several pages of the operator show. The operator has no feed of changes, so these pages read again by time. */
import {
  PARTY_COLLECTIONS,
  type PartyCollection,
  type PartyHealth,
  type PrincipalBinding,
} from '@measurement-exchange/contract';
import type { ResponseOf } from '@measurement-exchange/sdk/client';
import { useQueryClient } from '@tanstack/react-query';
import { useResource } from '../../live/useResource.ts';
import { useSession } from '../../session/session.ts';

export type Party = ResponseOf<'getParty'>;

/** Pages of lists are as large as the exchange allows. */
export const WHOLE_LIST = { pageSize: 1000 };

/** How often an open page reads again. */
export const EVERY = { refetchInterval: 10_000 };

/** All parties of the exchange: consumers, providers, then duchies. */
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

/** The bindings of a party, or of all. */
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

/** Returns a function that reads everything again. Call it after a change. */
export function useRefresh(): () => Promise<void> {
  const queries = useQueryClient();
  const { principal } = useSession();
  return () => queries.invalidateQueries({ queryKey: [principal] });
}

/** The address of a party's page. */
export const partyPath = (name: string) => `/parties/${name}`;

export const collectionOf = (name: string) => name.split('/')[0] as PartyCollection;

/** The health of all parties: last seen, certificate, open work and webhooks, but no contents. */
export function useHealth() {
  return useResource(
    'partyHealth',
    ['all'],
    ({ client }, signal) => Array.fromAsync<PartyHealth>(client.listPartyHealth({ pageSize: 100, signal })),
    EVERY,
  );
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
