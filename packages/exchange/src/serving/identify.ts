/**
 * Who a caller is. Bad tokens are limited by address, since nothing else is known of their sender; but others may share that
 * address, and no bad token keeps a good one out:
 *
 * - a token that was accepted before is not limited at all;
 * - what tells a good token from a bad one without its signature is always done: it costs next to nothing;
 * - signatures are checked at a bounded rate. A token of a subject that is known has a rate of its own at each address; only
 *   tokens of subjects that this replica has not seen yet share one, and so have to be lucky, or to come again, while
 *   somebody at their address sends forged ones.
 */
import { ExchangeError } from '@measurement-exchange/contract';
import type { PrincipalResolver } from '../auth/principals.ts';
import { bearerIn, parseBearer, type TokenVerifier, type VerifiedToken } from '../auth/tokens.ts';
import type { Principal } from '../operations/index.ts';
import { type Bucket, type Rate, RateLimiter } from './rateLimiter.ts';

export interface Credentials {
  /** The Authorization header, or what takes its place. */
  authorization: string | undefined;
  /** Where the caller is. */
  address: string;
}

export interface Identity {
  token: VerifiedToken;
  principal: Principal;
}

export interface IdentifierOptions {
  tokens: TokenVerifier;
  principals: PrincipalResolver;
  /** Of a subject that is bound to no principal, or to a suspended one. */
  strangerRate: Rate;
}

const BAD_TOKENS: Rate = { perSecond: 50, burst: 200 };
const FORGED_TOKENS: Rate = { perSecond: 50, burst: 200 };
const FORGED_TOKENS_OF_KNOWN_SUBJECT: Rate = { perSecond: 1, burst: 10 };
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

  /** A caller who was identified a moment ago: most are, and waiting for nothing still takes a tenth of a read. */
  recall({ authorization = '' }: Credentials): Identity | undefined {
    const bearer = bearerIn(authorization);
    const token = bearer === undefined ? undefined : this.options.tokens.recall(bearer);
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

  private async verify({ authorization, address }: Credentials): Promise<VerifiedToken> {
    let forged: Bucket | undefined;
    try {
      return await this.options.tokens.verify(parseBearer(authorization), (knownSubject) => {
        forged = this.forgeriesOf(address, knownSubject);
        if (forged.isEmpty) throw forged.error(TOO_MANY_BAD_TOKENS);
      });
    } catch (error) {
      if (!(error instanceof ExchangeError && error.reason === 'TOKEN_INVALID')) throw error;
      forged?.take();
      throw this.charge(this.badTokens.bucketOf(address), TOO_MANY_BAD_TOKENS, error);
    }
  }

  /** What a bad signature is charged to. */
  private forgeriesOf(address: string, knownSubject: string | undefined): Bucket {
    if (knownSubject !== undefined) {
      const bucket = this.forgedOfKnownSubjects.bucketOf(`${address} ${knownSubject}`);
      if (!bucket.isEmpty) return bucket;
    }
    return this.forgedTokens.bucketOf(address);
  }

  /** The error, as long as the bucket lasts; then that it is empty. */
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
