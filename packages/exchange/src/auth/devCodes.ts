/**
 * Issues and redeems the one-time codes of the development issuer's sign-in page (RFC 6749, with PKCE from RFC 7636).
 */
import { createHash, randomBytes } from 'node:crypto';

const LIFETIME_MS = 60_000;
const MAX_CODES = 1000;

/**
 * Describes the sign-in that a code stands for. The token request must repeat `redirectUri` and contain the secret
 * whose hash is `codeChallenge`.
 */
export interface Grant {
  principal: string;
  redirectUri: string;
  /** The SHA-256 of the token request's `code_verifier`, in base64url. */
  codeChallenge: string;
}

export class DevCodes {
  private readonly grants = new Map<string, Grant & { expiresAt: number }>();
  private readonly clock: () => number;

  constructor(clock: () => number = Date.now) {
    this.clock = clock;
  }

  issue(grant: Grant): string {
    const code = randomBytes(32).toString('base64url');
    this.grants.set(code, { ...grant, expiresAt: this.clock() + LIFETIME_MS });
    if (this.grants.size > MAX_CODES) this.grants.delete(this.grants.keys().next().value!);
    return code;
  }

  /**
   * Returns the principal that signed in. Returns undefined if the code is unknown, used, or expired, or if the
   * redirect URI or the verifier does not match.
   */
  redeem(code: string, redirectUri: string, codeVerifier: string): string | undefined {
    const grant = this.grants.get(code);
    this.grants.delete(code);
    if (grant === undefined || grant.expiresAt <= this.clock() || grant.redirectUri !== redirectUri)
      return undefined;
    const challenge = createHash('sha256').update(codeVerifier).digest('base64url');
    return challenge === grant.codeChallenge ? grant.principal : undefined;
  }
}
