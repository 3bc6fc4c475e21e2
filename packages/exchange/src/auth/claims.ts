/** Validates an ID token's header and claims. These checks need no key. tokens.ts verifies the signature. */

import { array, number, object, optional, type Static, text } from '@measurement-exchange/contract/schema';

const string = () => text(64 * 1024);

/** An identity provider whose tokens the exchange accepts. */
export const IssuerConfig = object({
  /** Must match the token's `iss` exactly. */
  issuer: string(),
  audience: string(),
  /** Further clients to which the issuer may issue tokens for this exchange, such as agents, duchies, and scripts. */
  clients: optional(array(string())),
  /** The URL or the file with the issuer's public keys. Exactly one of `jwksUri` and `jwksFile` must be set. */
  jwksUri: optional(string()),
  jwksFile: optional(string()),
  /** The accepted signature algorithms. The default is RS256, ES256, and EdDSA. */
  algorithms: optional(array(string())),
  /** The maximum age of a token since its `iat` claim, even if `exp` is later. The default is 24 h. */
  maxTokenAgeSeconds: optional(number()),
  /** The claim that contains the principal's name. Set it only if the issuer is trusted to name principals. */
  principalClaim: optional(string()),
});
export type IssuerConfig = Static<typeof IssuerConfig>;

export type Json = Record<string, unknown>;

export const DEFAULT_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
/**
 * The algorithms that may be configured. HMAC is excluded, because anyone who can read the shared secret can mint tokens.
 */
export const ASYMMETRIC_ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
const DEFAULT_MAX_TOKEN_AGE_SECONDS = 24 * 3600;
/** How far the issuer's clock may differ from ours: 60 s is accepted, 61 s is not. */
const SKEW_SECONDS = 60;
/** The maximum length of `sub`, from OpenID Connect Core, section 2. */
const MAX_SUBJECT_LENGTH = 255;
/** The accepted values of `typ`. They exclude access tokens (at+jwt, RFC 9068) and logout tokens (logout+jwt). */
const ID_TOKEN_TYPES = ['jwt', 'application/jwt'];

/**
 * Returns why the header is rejected, or undefined if it is accepted. Ignores keys in the header (`jku`, `x5u`, `jwk`,
 * `x5c`).
 */
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
 * Returns why the claims are rejected, or undefined if they are accepted. Does not check `iss`. The reason never contains a
 * claim's value.
 */
export function claimsError(claims: Json, issuer: IssuerConfig, nowSeconds: number): string | undefined {
  const { aud, azp, sub, exp, iat, nbf } = claims;
  if (typeof sub !== 'string' || sub.length === 0 || sub.length > MAX_SUBJECT_LENGTH) {
    return `sub is not a string of 1 to ${MAX_SUBJECT_LENGTH} characters`;
  }
  // Reject a token that is also for other audiences, because one of them could replay it here.
  const audiences = Array.isArray(aud) ? aud : [aud];
  if (audiences.length === 0 || !audiences.every((one) => one === issuer.audience))
    return 'aud is not ours alone';
  // `azp` is the client to which the token was issued. It must be this exchange, the subject, or one of the configured
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

/** Returns when an accepted token expires, in epoch seconds. */
export function expiryOf(claims: Json, issuer: IssuerConfig): number {
  return Math.min(claims.exp as number, (claims.iat as number) + maxAgeOf(issuer));
}

/** Rejects Infinity too, because JSON.parse reads 1e999 as Infinity. */
function isTime(value: unknown): value is number {
  return Number.isFinite(value);
}

function maxAgeOf(issuer: IssuerConfig): number {
  return issuer.maxTokenAgeSeconds ?? DEFAULT_MAX_TOKEN_AGE_SECONDS;
}

/** Throws if the settings of an issuer are incomplete or insecure. */
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
