/**
 * The credentials that a face received from its caller. A further kind, such as a client certificate or an API key, needs a
 * member here, a case in `identify.ts` and a verifier in `auth/`. `address` is the network address of the caller.
 */
export type Credentials =
  | { kind: 'bearer'; token: string; address: string }
  /** `why` is logged, and contains no secret. */
  | { kind: 'none'; why: string; address: string };

/** RFC 6750, section 2.1. The token verifier checks the characters of the token, since it accepts fewer than the RFC. */
const BEARER = /^Bearer [^ ]/i;

export function credentialsIn(authorization: string | undefined, address: string): Credentials {
  if (authorization === undefined) return { kind: 'none', why: 'no Authorization header', address };
  return BEARER.test(authorization)
    ? { kind: 'bearer', token: authorization.slice(7), address }
    : { kind: 'none', why: 'the Authorization header is not a bearer token', address };
}
