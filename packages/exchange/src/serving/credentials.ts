/**
 * Credentials that the HTTP layer received, with the caller's network address. A new kind, such as an API key, would
 * need a member here, a case in `identify.ts`, and a verifier in `auth/`.
 */
export type Credentials =
  | { kind: 'bearer'; token: string; address: string }
  /** `why` is logged and contains no secret. */
  | { kind: 'none'; why: string; address: string };

/** The start of a bearer token header (RFC 6750, section 2.1). The token verifier checks the token itself. */
const BEARER = /^Bearer [^ ]/i;

export function credentialsIn(authorization: string | undefined, address: string): Credentials {
  if (authorization === undefined) return { kind: 'none', why: 'no Authorization header', address };
  return BEARER.test(authorization)
    ? { kind: 'bearer', token: authorization.slice(7), address }
    : { kind: 'none', why: 'the Authorization header is not a bearer token', address };
}
