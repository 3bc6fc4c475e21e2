/** The party or operator that uses this page, and the page's connection to the exchange. */
import { createClient, type ExchangeClient } from '@measurement-exchange/sdk/client';
import { createContext, useContext } from 'react';
import { type Companion, createCompanion } from '../companion/client.ts';
import type { ServedBy } from '../companion/methods.ts';
import { type Role, roleOf } from './roles.ts';

export interface Session {
  servedBy: ServedBy;
  /** The caller's name: `measurementConsumers/…`, `dataProviders/…`, `duchies/…` or `operator`. */
  principal: string;
  role: Role;
  client: ExchangeClient;
  /** Absent where no key is available. Pages then show the command that opens them in `mex console`. */
  companion: Companion | undefined;
}

/** Returns a function that replaces an expired token, or undefined if `mex console` holds the token. */
export type TokenSource = { token: () => Promise<string> } | { identity: string };

/** Connects to the exchange through the page's own origin, and asks it for the caller's name. */
export async function openSession(servedBy: ServedBy, source: TokenSource): Promise<Session> {
  const headers = async (): Promise<Record<string, string>> =>
    'token' in source
      ? { authorization: `Bearer ${await source.token()}` }
      : { 'mex-identity': source.identity };
  const client = createClient({
    baseUrl: servedBy.api || location.origin,
    // `mex console` replaces this text by the token, which never reaches the page.
    token: 'token' in source ? source.token : 'held-by-mex-console',
    ...('identity' in source && {
      fetch: (input, init) =>
        fetch(input, { ...init, headers: { ...(init?.headers as object), 'mex-identity': source.identity } }),
    }),
  });
  const { principal } = await client.whoAmI();
  const companion = servedBy.companion ? createCompanion(headers) : undefined;
  return { servedBy, principal, role: roleOf(principal), client, companion };
}

const SessionContext = createContext<Session | undefined>(undefined);
export const SessionProvider = SessionContext.Provider;

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('This page needs a session.');
  return session;
}
