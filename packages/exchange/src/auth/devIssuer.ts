/** The token issuer of development mode. The exchange verifies this issuer's tokens like those of any other issuer. */
import { join } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import { parsePrincipal } from '../domain/access.ts';
import { readOrMakePrivateJson } from './privateFile.ts';
import type { IssuerConfig } from './tokens.ts';

export const DEV_AUDIENCE = 'measurement-exchange-dev';
const PRINCIPAL_CLAIM = 'mex_principal';
const ALGORITHM = 'ES256';
export const LIFETIME_SECONDS = 12 * 3600;

export type DevIssuer = Awaited<ReturnType<typeof createDevIssuer>>;

export function devKeyFile(dataDir: string): string {
  return join(dataDir, 'dev-issuer.json');
}

/**
 * Creates the issuer. Its key is created on first use and stored in `keyFile`. `mex token` reads the key to mint tokens
 * for a running exchange.
 */
export async function createDevIssuer(options: {
  keyFile: string;
  baseUrl: string;
  /** Returns the current time in epoch milliseconds. */
  clock?: () => number;
}) {
  const { keyFile, baseUrl, clock = Date.now } = options;
  const jwk = await readOrMakePrivateJson(keyFile, makeKey);
  const signingKey = await importJWK(jwk, ALGORITHM);
  const { d: _secret, ...publicJwk } = jwk;
  const issuer = `${baseUrl}/dev`;
  const jwksUri = `${issuer}/jwks`;

  return {
    issuer,
    async mint(principalName: string, lifetimeSeconds = LIFETIME_SECONDS): Promise<string> {
      if (parsePrincipal(principalName) === undefined) {
        throw new Error(
          `"${principalName}" is not a principal: give measurementConsumers/…, dataProviders/…, duchies/… or operator.`,
        );
      }
      const now = Math.floor(clock() / 1000);
      return new SignJWT({ [PRINCIPAL_CLAIM]: principalName })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid: jwk.kid! })
        .setIssuer(issuer)
        .setAudience(DEV_AUDIENCE)
        .setSubject(principalName)
        .setIssuedAt(now)
        .setExpirationTime(now + lifetimeSeconds)
        .sign(signingKey);
    },
    /** The document at `/dev/.well-known/openid-configuration`. */
    discovery: {
      issuer,
      jwks_uri: jwksUri,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      scopes_supported: ['openid'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [ALGORITHM],
      authorization_response_iss_parameter_supported: true,
    },
    jwks: { keys: [publicJwk] },
    issuerConfig: {
      issuer,
      audience: DEV_AUDIENCE,
      jwksUri,
      algorithms: [ALGORITHM],
      principalClaim: PRINCIPAL_CLAIM,
    } satisfies IssuerConfig,
  };
}

async function makeKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { ...jwk, kid, alg: ALGORITHM, use: 'sig' };
}
