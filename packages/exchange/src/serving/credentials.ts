/**
 * The credentials that a face received from its caller. To add another kind, such as a client certificate or an API key,
 * add a member here, a case in `identify.ts`, and a verifier in `auth/`. `address` is the caller's network address.
 */
export type Credentials =
  | { kind: 'bearer'; token: string; address: string }
  /** `why` is logged and contains no secrets. */
  | { kind: 'none'; why: string; address: string };

/** RFC 6750, section 2.1. The token verifier checks the token's characters, because it accepts fewer than the RFC does. */
const BEARER = /^Bearer [^ ]/i;

export function credentialsIn(authorization: string | undefined, address: string): Credentials {
  if (authorization === undefined) return { kind: 'none', why: 'no Authorization header', address };
  return BEARER.test(authorization)
    ? { kind: 'bearer', token: authorization.slice(7), address }
    : { kind: 'none', why: 'the Authorization header is not a bearer token', address };
}
