/** The credentials that a server received, with the caller's network address. Verifiers are in `auth/`. */
export type Credentials =
  | { kind: 'bearer'; token: string; address: string }
  | { kind: 'apiKey'; key: string; address: string }
  /**
   * An X.509 certificate in DER. The caller proved in the TLS handshake that it has the private key of the certificate.
   */
  | { kind: 'certificate'; x509Der: Uint8Array; address: string }
  /** `why` is logged and contains no secret. */
  | { kind: 'none'; why: string; address: string };

/** Credentials outside the Authorization header. Some servers do not accept such credentials. */
interface Others {
  apiKey?: string | undefined;
  /** The client certificate of the TLS connection. */
  x509Der?: Uint8Array | undefined;
}

/** The start of a bearer token header (RFC 6750, section 2.1). The token verifier checks the token itself. */
const BEARER = /^Bearer [^ ]/i;

/**
 * Returns the credentials of a request. The Authorization header takes precedence over an API key, and an API key takes
 * precedence over a certificate.
 */
export function credentialsIn(
  authorization: string | undefined,
  address: string,
  { apiKey, x509Der }: Others = {},
): Credentials {
  if (authorization !== undefined) {
    return BEARER.test(authorization)
      ? { kind: 'bearer', token: authorization.slice(7), address }
      : { kind: 'none', why: 'the Authorization header is not a bearer token', address };
  }
  if (apiKey !== undefined) return { kind: 'apiKey', key: apiKey, address };
  if (x509Der !== undefined) return { kind: 'certificate', x509Der, address };
  return { kind: 'none', why: 'no credentials', address };
}
