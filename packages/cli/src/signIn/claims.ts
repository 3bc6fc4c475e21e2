/** Reads the claims in a token, such as its expiry, without verifying the token. Only the exchange verifies tokens. */

export interface Claims {
  iss?: string;
  sub?: string;
  aud?: string | string[];
  azp?: string;
  /** The expiry, in epoch seconds. */
  exp?: number;
  iat?: number;
}

export function claimsOf(token: string): Claims | undefined {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? (claims as Claims) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns when the token expires, in epoch milliseconds. A token without a readable expiry counts as expired. */
export function expiryOf(token: string): number {
  const exp = claimsOf(token)?.exp;
  return typeof exp === 'number' ? exp * 1000 : 0;
}
