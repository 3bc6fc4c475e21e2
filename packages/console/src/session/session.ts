/** The caller that uses this page, and its connection to the exchange. */
import { createClient, type ExchangeClient } from '@measurement-exchange/sdk/client';
import { createContext, useContext } from 'react';
import { type Companion, createCompanion } from '../companion/client.ts';
import type { ServedBy } from '../companion/methods.ts';
import { Login } from './login.ts';
import { type Role, roleOf } from './roles.ts';

export interface Session {
  servedBy: ServedBy;
  /** The caller's name: `measurementConsumers/…`, `dataProviders/…`, `duchies/…` or `operator`. */
  principal: string;
  role: Role;
  client: ExchangeClient;
  /** Undefined if the console cannot use the caller's keys. Pages then show the command that starts `mex console`. */
  companion: Companion | undefined;
  /** Undefined if `mex console` holds the token. */
  login: Login | undefined;
}

/** A user who signed in on this page, or an identity for which `mex console` holds the token. */
export type Caller = Login | { identity: string };

/** Connects to the exchange, and asks it for the caller's name. */
export async function openSession(servedBy: ServedBy, caller: Caller): Promise<Session> {
  const login = caller instanceof Login ? caller : undefined;
  const identity = caller instanceof Login ? undefined : caller.identity;
  const client = createClient({
    baseUrl: servedBy.api || location.origin,
    // `mex console` replaces this text with the token, so that the token never reaches the page.
    token: login?.token ?? 'held-by-mex-console',
    async fetch(input, init) {
      const headers = {
        ...(init?.headers as object),
        ...(identity !== undefined && { 'mex-identity': identity }),
      };
      // Send cookies, because `mex console` identifies its page by a cookie. The client sends none by default.
      const response = await fetch(input, { ...init, headers, credentials: 'same-origin' });
      if (response.status === 401) login?.reject();
      return response;
    },
  });
  const { principal } = await client.whoAmI();
  const hasKeys = login
    ? principal !== 'operator'
    : servedBy.identities?.find(({ id }) => id === identity)?.keys === true;
  const headers = async (): Promise<Record<string, string>> =>
    login ? { authorization: `Bearer ${await login.token()}` } : { 'mex-identity': identity! };
  const companion = servedBy.companion && hasKeys ? createCompanion(headers) : undefined;
  return { servedBy, principal, role: roleOf(principal), client, companion, login };
}

const SessionContext = createContext<Session | undefined>(undefined);
export const SessionProvider = SessionContext.Provider;

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('This page needs a session.');
  return session;
}
