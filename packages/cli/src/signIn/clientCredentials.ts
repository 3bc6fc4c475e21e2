/** Gets tokens for a program, such as an agent, a duchy, or a script. The program signs in with a client secret. */
import { Unreachable } from '@measurement-exchange/sdk';
import type { SignIn } from '@measurement-exchange/server/signIn';
import { expiryOf } from './claims.ts';
import { asking, discover, IssuerError, loadOpenId, readSecret } from './openId.ts';

/**
 * A token is renewed this long before it expires. A token with a lifetime below three minutes is renewed when a third
 * of its lifetime is left.
 */
const RENEW_BEFORE_MS = 60_000;
/** The pause after a failed renewal. Meanwhile, the old token is used for as long as it is valid. */
const RETRY_MS = 5_000;

interface Issued {
  token: string;
  renewAt: number;
  expiresAt: number;
}

export function clientCredentials(signIn: SignIn): () => Promise<string> {
  let issued: Issued | undefined;
  let renewing: Promise<Issued> | undefined;
  return async () => {
    if (issued !== undefined && Date.now() < issued.renewAt) return issued.token;
    renewing ??= issue(signIn).finally(() => {
      renewing = undefined;
    });
    try {
      issued = await renewing;
    } catch (error) {
      // Throw Unreachable, because agents and duchies wait and retry after this error.
      if (issued === undefined || Date.now() >= issued.expiresAt)
        throw new Unreachable((error as Error).message);
      issued.renewAt = Date.now() + RETRY_MS;
    }
    return issued.token;
  };
}

async function issue(signIn: SignIn): Promise<Issued> {
  // Send the secret in a header first. If the issuer responds with invalid_client, send the secret in the body instead.
  const response = await request(signIn, 'header').catch((error: unknown) => {
    if (error instanceof IssuerError && error.reason === 'invalid_client') return request(signIn, 'body');
    throw error;
  });
  const token = response.access_token;
  const now = Date.now();
  const expiresAt = response.expires_in === undefined ? expiryOf(token) : now + response.expires_in * 1000;
  if (expiryOf(token) === 0) {
    throw new Error(
      `${signIn.issuer} sent a token that only it can read: set audience, scope or resource, so that it issues a JWT for the exchange.`,
    );
  }
  const renewAt = expiresAt - Math.min(RENEW_BEFORE_MS, (expiresAt - now) / 3);
  return { token, renewAt, expiresAt };
}

async function request(signIn: SignIn, secretIn: 'header' | 'body') {
  const { scope, audience, resource, clientSecretFile } = signIn;
  const { clientCredentialsGrant } = await loadOpenId();
  const config = await discover(signIn, secretIn);
  const given = Object.entries({ scope, audience, resource }).filter(([, value]) => value !== undefined);
  const parameters = Object.fromEntries(given) as Record<string, string>;
  const secret = await readSecret(clientSecretFile);
  return asking(signIn, [secret], () => clientCredentialsGrant(config, parameters));
}

/** Reads the sign-in settings from the environment. Returns undefined if MEX_CLIENT_SECRET_FILE is not set. */
export function signInOfEnvironment(env = process.env): SignIn | undefined {
  const { MEX_ISSUER: issuer, MEX_CLIENT_ID: clientId, MEX_CLIENT_SECRET_FILE: clientSecretFile } = env;
  if (!clientSecretFile) return undefined;
  if (!issuer || !clientId) {
    throw new Error('MEX_CLIENT_SECRET_FILE is set: set MEX_ISSUER and MEX_CLIENT_ID, too.');
  }
  const { MEX_SCOPE: scope, MEX_AUDIENCE: audience, MEX_RESOURCE: resource } = env;
  return {
    ...{ issuer, clientId, clientSecretFile },
    ...(scope && { scope }),
    ...(audience && { audience }),
    ...(resource && { resource }),
  };
}
