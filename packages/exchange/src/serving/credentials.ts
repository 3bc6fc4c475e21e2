/** The credentials that a face received from its caller. */

/**
 * A further kind, such as a client certificate, an API key or a session, is a member here, a case in `identify.ts` and its
 * verifier in `auth/`. `address` is where the caller is.
 */
export type Credentials =
  | { kind: 'bearer'; token: string; address: string }
  /** `why` is logged, and contains no secret. */
  | { kind: 'none'; why: string; address: string };

/** RFC 6750, section 2.1. The verifier accepts fewer characters than a bearer token may have, so they are checked there. */
const BEARER = /^Bearer [^ ]/i;

/** The credentials in an Authorization header, or in the metadata that takes its place. */
export function credentialsIn(authorization: string | undefined, address: string): Credentials {
  if (authorization === undefined) return { kind: 'none', why: 'no Authorization header', address };
  return BEARER.test(authorization)
    ? { kind: 'bearer', token: authorization.slice(7), address }
    : { kind: 'none', why: 'the Authorization header is not a bearer token', address };
}
