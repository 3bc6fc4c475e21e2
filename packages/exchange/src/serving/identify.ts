/**
 * Identifies callers, and limits the bad tokens of an address. Callers may share an address, so one caller's bad tokens
 * must not block another caller's good tokens:
 *
 * - A token that was accepted before is not limited.
 * - All checks except the signature check are always made, because they are cheap.
 * - Signatures are checked at a limited rate. Each known subject has its own rate per address. Subjects that this replica
 *   has not seen share one rate, so they may have to retry while somebody at their address sends forged tokens.
 */
import { type Code, ExchangeError, type Match } from '@measurement-exchange/contract';
import type { PrincipalResolver } from '../auth/principals.ts';
import { type TokenVerifier, tokenInvalid, type VerifiedToken } from '../auth/tokens.ts';
import { authorize, type Principal } from '../operations/index.ts';
import type { Credentials } from './credentials.ts';
import { type Bucket, type Rate, RateLimiter } from './rateLimiter.ts';

export interface Identity {
  token: VerifiedToken;
  principal: Principal;
}

export interface IdentifierOptions {
  tokens: TokenVerifier;
  principals: PrincipalResolver;
  /** The rate limit of a subject that is not bound to a principal, or whose principal is suspended. */
  strangerRate: Rate;
}

const BAD_TOKENS: Rate = { perSecond: 50, burst: 200 };
const FORGED_TOKENS: Rate = { perSecond: 50, burst: 200 };
const FORGED_TOKENS_OF_KNOWN_SUBJECT: Rate = { perSecond: 1, burst: 10 };
/** These errors do not tell whether the caller is authorized. */
const UNDECIDED: readonly Code[] = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'INTERNAL'];
const TOO_MANY_BAD_TOKENS = 'Too many bad tokens from this address';

export class Identifier {
  private readonly options: IdentifierOptions;
  private readonly badTokens = new RateLimiter(() => BAD_TOKENS);
  private readonly forgedTokens = new RateLimiter(() => FORGED_TOKENS);
  private readonly forgedOfKnownSubjects = new RateLimiter(() => FORGED_TOKENS_OF_KNOWN_SUBJECT);
  private readonly strangers: RateLimiter;

  constructor(options: IdentifierOptions) {
    this.options = options;
    this.strangers = new RateLimiter(() => options.strangerRate);
  }

  /**
   * Returns the caller if it was identified recently. Returns no promise, because awaiting a promise would take 10% of
   * a read request's time.
   */
  recall(credentials: Credentials): Identity | undefined {
    if (credentials.kind !== 'bearer') return undefined;
    const token = this.options.tokens.recall(credentials.token);
    const principal = token && this.options.principals.recall(token);
    return principal && { token: token!, principal };
  }

  async identify(credentials: Credentials): Promise<Identity> {
    const token = await this.verify(credentials);
    try {
      return { token, principal: await this.options.principals.resolve(token) };
    } catch (error) {
      throw isStranger(error)
        ? this.charge(this.strangers.bucketOf(subjectOf(token)), 'Too many requests', error)
        : error;
    }
  }

  /** Also returns true if the exchange cannot tell right now. */
  async isStillAuthorized(credentials: Credentials, { route, params }: Match): Promise<boolean> {
    try {
      const { principal } = this.recall(credentials) ?? (await this.identify(credentials));
      authorize(principal, route, params);
      return true;
    } catch (error) {
      return !(error instanceof ExchangeError) || UNDECIDED.includes(error.code);
    }
  }

  private async verify(credentials: Credentials): Promise<VerifiedToken> {
    const { address } = credentials;
    let forged: Bucket | undefined;
    try {
      if (credentials.kind === 'none') throw tokenInvalid(credentials.why);
      return await this.options.tokens.verify(credentials.token, (knownSubject) => {
        forged = this.forgeriesOf(address, knownSubject);
        if (forged.isEmpty) throw forged.error(TOO_MANY_BAD_TOKENS);
      });
    } catch (error) {
      if (!(error instanceof ExchangeError && error.reason === 'TOKEN_INVALID')) throw error;
      forged?.take();
      throw this.charge(this.badTokens.bucketOf(address), TOO_MANY_BAD_TOKENS, error);
    }
  }

  private forgeriesOf(address: string, knownSubject: string | undefined): Bucket {
    if (knownSubject !== undefined) {
      const bucket = this.forgedOfKnownSubjects.bucketOf(`${address} ${knownSubject}`);
      if (!bucket.isEmpty) return bucket;
    }
    return this.forgedTokens.bucketOf(address);
  }

  private charge(bucket: Bucket, what: string, error: unknown): unknown {
    if (bucket.isEmpty) return bucket.error(what);
    bucket.take();
    return error;
  }
}

function isStranger(error: unknown): boolean {
  return (
    error instanceof ExchangeError && ['PRINCIPAL_UNKNOWN', 'PRINCIPAL_SUSPENDED'].includes(error.reason)
  );
}

function subjectOf({ issuer, subject }: VerifiedToken): string {
  return `${issuer} ${subject}`;
}
