/** Validates an ID token's header and claims. tokens.ts verifies the signature. */

import { array, number, object, optional, type Static, text } from '@measurement-exchange/contract/schema';

const string = () => text(64 * 1024);

export const IssuerConfig = object({
  /** Must match the token's `iss` exactly. */
  issuer: string(),
  audience: string(),
  /** Additional clients whose tokens are accepted, such as agents, duchies, and scripts. */
  clients: optional(array(string())),
  /** The source of the issuer's public keys. Exactly one of `jwksUri` and `jwksFile` must be set. */
  jwksUri: optional(string()),
  jwksFile: optional(string()),
  /** Signature algorithms. The default is RS256, ES256, and EdDSA. */
  algorithms: optional(array(string())),
  /** The maximum time since a token's `iat`, even if `exp` is later. The default is 24 h. */
  maxTokenAgeSeconds: optional(number()),
  /** The claim that names the principal. Set it only if the issuer is trusted to name principals. */
  principalClaim: optional(string()),
});
export type IssuerConfig = Static<typeof IssuerConfig>;

export type Json = Record<string, unknown>;

export const DEFAULT_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
/** Excludes HMAC algorithms, because anyone who can verify an HMAC can also forge a token. */
export const ASYMMETRIC_ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
const DEFAULT_MAX_TOKEN_AGE_SECONDS = 24 * 3600;
const SKEW_SECONDS = 60;
/** The maximum length of `sub`, from OpenID Connect Core, section 2. */
const MAX_SUBJECT_LENGTH = 255;
/** The accepted token types. Access tokens (`at+jwt`, RFC 9068) and logout tokens (`logout+jwt`) are rejected. */
const ID_TOKEN_TYPES = ['jwt', 'application/jwt'];

/** Returns why the header is rejected, or undefined. Keys in the header (`jku`, `x5u`, `jwk`, `x5c`) are never used. */
export function headerError(header: Json, issuer: IssuerConfig): string | undefined {
  const { alg, typ, crit } = header;
  if (!(issuer.algorithms ?? DEFAULT_ALGORITHMS).includes(alg as string)) return 'alg is not allowed';
  if (typ !== undefined && !(typeof typ === 'string' && ID_TOKEN_TYPES.includes(typ.toLowerCase()))) {
    return 'typ is not that of an ID token';
  }
  if (crit !== undefined) return 'crit is not supported';
  return undefined;
}

/**
 * Returns why the claims are rejected, or undefined. The text never contains a claim's value. The caller checks `iss`.
 */
export function claimsError(claims: Json, issuer: IssuerConfig, nowSeconds: number): string | undefined {
  const { aud, azp, sub, exp, iat, nbf } = claims;
  if (typeof sub !== 'string' || sub.length === 0 || sub.length > MAX_SUBJECT_LENGTH) {
    return `sub is not a string of 1 to ${MAX_SUBJECT_LENGTH} characters`;
  }
  // Reject a token that is also for other audiences, because another audience could replay the token here.
  const audiences = Array.isArray(aud) ? aud : [aud];
  if (audiences.length === 0 || !audiences.every((one) => one === issuer.audience))
    return 'aud is not ours alone';
  // `azp` names the client that requested the token. Accept only this exchange, the token's subject, and configured
  // clients.
  if (azp !== undefined && ![issuer.audience, sub, ...(issuer.clients ?? [])].includes(azp as string)) {
    return 'azp is another party';
  }
  if (!isTime(exp)) return 'exp is not a time';
  if (!isTime(iat)) return 'iat is not a time';
  if (nbf !== undefined && !isTime(nbf)) return 'nbf is not a time';
  if (nowSeconds > exp + SKEW_SECONDS) return 'exp is past';
  if (nbf !== undefined && nowSeconds < nbf - SKEW_SECONDS) return 'nbf is ahead';
  if (nowSeconds < iat - SKEW_SECONDS) return 'iat is ahead';
  if (nowSeconds > iat + maxAgeOf(issuer) + SKEW_SECONDS) return 'iat is too long ago';
  return undefined;
}

export function expiryOf(claims: Json, issuer: IssuerConfig): number {
  return Math.min(claims.exp as number, (claims.iat as number) + maxAgeOf(issuer));
}

/** Returns whether the value is a finite number. JSON.parse reads 1e999 as Infinity, which is not a time. */
function isTime(value: unknown): value is number {
  return Number.isFinite(value);
}

function maxAgeOf(issuer: IssuerConfig): number {
  return issuer.maxTokenAgeSeconds ?? DEFAULT_MAX_TOKEN_AGE_SECONDS;
}

export function checkIssuers(issuers: IssuerConfig[]): void {
  if (issuers.length === 0) throw new Error('No token issuer is configured.');
  if (new Set(issuers.map((i) => i.issuer)).size < issuers.length)
    throw new Error('An issuer is listed twice.');
  for (const { issuer, audience, jwksUri, jwksFile, algorithms, maxTokenAgeSeconds } of issuers) {
    const invalid = (what: string) => new Error(`Token issuer "${issuer}": ${what}.`);
    if (!issuer) throw invalid('issuer is empty');
    if (!audience) throw invalid('audience is empty');
    if (!jwksUri === !jwksFile) throw invalid('give either jwksUri or jwksFile');
    if (algorithms?.length === 0) throw invalid('algorithms is empty');
    const bad = algorithms?.find((alg) => !ASYMMETRIC_ALGORITHMS.includes(alg));
    if (bad !== undefined)
      throw invalid(`algorithm ${bad} is not one of ${ASYMMETRIC_ALGORITHMS.join(', ')}`);
    if (
      maxTokenAgeSeconds !== undefined &&
      !(maxTokenAgeSeconds > 0 && Number.isFinite(maxTokenAgeSeconds))
    ) {
      throw invalid('maxTokenAgeSeconds is not a positive number');
    }
  }
}
