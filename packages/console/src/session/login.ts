/** The tokens of a signed-in user. They are kept in memory only, and renewed before they expire. */

export interface Tokens {
  idToken: string;
  refreshToken: string | undefined;
  sub: string;
  /** Epoch milliseconds. */
  expiresAt: number;
}

export interface Renewal {
  /** Resolves to undefined if the issuer rejects the refresh token. Rejects if the issuer does not respond. */
  refresh: (refreshToken: string) => Promise<Tokens | undefined>;
  /** Asks the user to sign in again, and returns the new tokens. */
  again: (signal: AbortSignal) => Promise<Tokens>;
}

/** A token is renewed this long before it expires. */
const EARLY_MS = 30_000;

export class SignInExpired extends Error {
  override name = 'SignInExpired';
  constructor() {
    super('Your sign-in has expired. Nothing you typed is lost.');
  }
}

export class Login {
  tokens: Tokens;
  private readonly renewal: Renewal;
  private renewing: Promise<void> | undefined;
  /**
   * Called when only the user can renew the tokens. API calls wait until the returned promise resolves, and fail if it
   * rejects.
   */
  onExpired: (() => Promise<void>) | undefined;

  constructor(tokens: Tokens, renewal: Renewal) {
    this.tokens = tokens;
    this.renewal = renewal;
  }

  get subject(): string {
    return this.tokens.sub;
  }

  /** Returns a valid token. Renews it first if it is about to expire. */
  token = async (): Promise<string> => {
    if (this.tokens.expiresAt - EARLY_MS <= Date.now()) {
      this.renewing ??= this.renew().finally(() => {
        this.renewing = undefined;
      });
      await this.renewing;
    }
    return this.tokens.idToken;
  };

  /**
   * Called after the exchange has rejected the token. If `onExpired` is set, so that the user can sign in again, the
   * next call of `token` renews the token first.
   */
  reject(): void {
    if (this.onExpired) this.tokens = { ...this.tokens, expiresAt: 0 };
  }

  async signInAgain(signal: AbortSignal): Promise<void> {
    this.tokens = await this.renewal.again(signal);
  }

  private async renew(): Promise<void> {
    const { refreshToken } = this.tokens;
    if (refreshToken !== undefined) {
      const refreshed = await this.renewal.refresh(refreshToken);
      if (refreshed !== undefined) {
        this.tokens = refreshed;
        return;
      }
      // Drop the rejected refresh token. The user must sign in again.
      this.tokens = { ...this.tokens, refreshToken: undefined };
    }
    if (this.onExpired === undefined) throw new SignInExpired();
    await this.onExpired();
  }
}
