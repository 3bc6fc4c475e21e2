/** The tokens of somebody who signed in. They are kept in memory only, and renewed when they end. */

export interface Tokens {
  idToken: string;
  refreshToken: string | undefined;
  /** The subject that the ID token identifies. */
  sub: string;
  /** Epoch milliseconds. */
  expiresAt: number;
}

export interface Renewal {
  /** Gets tokens for a refresh token. */
  refresh: (refreshToken: string) => Promise<Tokens>;
  /** Lets the person sign in again. */
  again: (signal: AbortSignal) => Promise<Tokens>;
}

/** A token is replaced this long before it expires. */
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
  /** Called when only the person can renew the tokens. Calls wait until it resolves, and fail if it rejects. */
  onExpired: (() => Promise<void>) | undefined;

  constructor(tokens: Tokens, renewal: Renewal) {
    this.tokens = tokens;
    this.renewal = renewal;
  }

  get subject(): string {
    return this.tokens.sub;
  }

  /** Returns a token that is valid for a while. */
  token = async (): Promise<string> => {
    if (this.tokens.expiresAt - EARLY_MS <= Date.now()) {
      this.renewing ??= this.renew().finally(() => {
        this.renewing = undefined;
      });
      await this.renewing;
    }
    return this.tokens.idToken;
  };

  /** The exchange has rejected the token: the next call renews it first. */
  reject(): void {
    if (this.onExpired) this.tokens = { ...this.tokens, expiresAt: 0 };
  }

  async signInAgain(signal: AbortSignal): Promise<void> {
    this.tokens = await this.renewal.again(signal);
  }

  private async renew(): Promise<void> {
    const { refreshToken } = this.tokens;
    if (refreshToken !== undefined) {
      const refreshed = await this.renewal.refresh(refreshToken).catch(() => undefined);
      if (refreshed !== undefined) {
        this.tokens = refreshed;
        return;
      }
      // The refresh token has ended, too.
      this.tokens = { ...this.tokens, refreshToken: undefined };
    }
    if (this.onExpired === undefined) throw new SignInExpired();
    await this.onExpired();
  }
}
