/** Reads an OpenID issuer's configuration, and converts the issuer's errors to one-sentence messages. */
import { readFile } from 'node:fs/promises';
import type { Configuration } from 'openid-client';
import { visible } from '../terminal/output.ts';
import { isLoopback, safeAddress } from './addresses.ts';

export interface OpenIdClient {
  issuer: string;
  clientId: string;
  clientSecretFile?: string;
}

/**
 * The tokens that `mex` stores after a user signs in. The access token is not stored, because the user's commands
 * send the ID token to the exchange.
 */
export interface Tokens {
  idToken: string;
  refreshToken?: string;
}

/** Loads the OpenID library on demand, because only commands that ask an issuer for a token need it. */
export const loadOpenId = () => import('openid-client');

const TIMEOUT_SECONDS = 10;

/** Reads the issuer's configuration. `secretIn` is where the client's secret is sent, if the client has one. */
export async function discover(
  client: OpenIdClient,
  secretIn: 'header' | 'body' = 'header',
): Promise<Configuration> {
  const address = safeAddress(client.issuer, 'The issuer');
  const secret = client.clientSecretFile && (await readSecret(client.clientSecretFile));
  const { allowInsecureRequests, ClientSecretBasic, ClientSecretPost, discovery, None } = await loadOpenId();
  const withSecret = secretIn === 'header' ? ClientSecretBasic : ClientSecretPost;
  return asking(client, [], () =>
    discovery(address, client.clientId, undefined, secret ? withSecret(secret) : None(), {
      timeout: TIMEOUT_SECONDS,
      execute: isLoopback(address) ? [allowInsecureRequests] : [],
    }),
  );
}

export async function readSecret(file: string): Promise<string> {
  const secret = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file} cannot be read (${error.code}): put the secret of the client there.`);
  });
  if (secret.trim() === '') throw new Error(`${file} is empty: put the secret of the client there.`);
  return secret.trim();
}

/** A failed call to an issuer. `reason` is the OAuth error code, if the issuer returned one. */
export class IssuerError extends Error {
  readonly reason: string | undefined;
  constructor(message: string, reason?: string) {
    super(message);
    this.reason = reason;
  }
}

/** Runs `ask`, which calls the issuer. Converts an error to an IssuerError, and masks `secrets` in its message. */
export async function asking<T>(client: OpenIdClient, secrets: string[], ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const reason = reasonOf(error as LibraryError);
    const message = sentenceOf(error as LibraryError, reason, client);
    const masked = secrets.reduce((text, secret) => (secret ? text.replaceAll(secret, '…') : text), message);
    // Omit the cause, because it may contain the issuer's response, which a log would print.
    throw new IssuerError(masked, reason);
  }
}

interface LibraryError extends Error {
  code?: string;
  error?: unknown;
  error_description?: unknown;
  cause?: { code?: string; message?: string; status?: number };
}

function reasonOf({ code, error }: LibraryError): string | undefined {
  // The library reports this code if the issuer rejects a client secret that was sent in a header.
  if (code === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE') return 'invalid_client';
  return typeof error === 'string' ? error : undefined;
}

const REASONS: Record<string, (client: OpenIdClient) => string> = {
  access_denied: ({ issuer }) => `The login was denied at ${issuer}.`,
  expired_token: ({ issuer }) => `The login at ${issuer} timed out: run mex login again.`,
  invalid_client: ({ issuer, clientId }) =>
    `${issuer} does not accept the client ${clientId}: check its ID, its secret, and that this way to sign in is on for it.`,
  unauthorized_client: ({ issuer, clientId }) =>
    `${issuer} does not let the client ${clientId} sign in this way: turn it on there.`,
};

function sentenceOf(error: LibraryError, reason: string | undefined, client: OpenIdClient): string {
  const { issuer } = client;
  if (reason !== undefined) {
    const known = REASONS[reason]?.(client) ?? `${issuer} rejected the request (${visible(reason)}).`;
    const said = error.error_description;
    return typeof said === 'string' ? `${known} It says: ${visible(said.slice(0, 500))}` : known;
  }
  if (error.code === 'OAUTH_TIMEOUT') return unreachable(issuer, `no response in ${TIMEOUT_SECONDS} s`);
  if (error.message === 'fetch failed') {
    return unreachable(issuer, error.cause?.code ?? error.cause?.message ?? 'no connection');
  }
  const { status } = error.cause ?? {};
  const detail = status === undefined ? error.message : `HTTP ${status}`;
  return `${issuer} did not respond as an OpenID issuer does (${visible(detail)}): check the address of the issuer.`;
}

function unreachable(issuer: string, why: string): string {
  return `The issuer ${issuer} cannot be reached (${why}): check its address and your network, and try again.`;
}
