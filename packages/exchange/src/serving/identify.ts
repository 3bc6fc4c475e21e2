/**
 * Identifies callers, and limits how many bad credentials an address may send. Callers may share an address, so one
 * caller's bad credentials must not block another caller's valid credentials:
 *
 * - Credentials that were accepted before are not limited.
 * - Cheap checks are not limited. The expensive checks verify a signature, or read the database.
 * - Failed expensive checks count toward a rate limit. When the limit is reached, no further expensive checks are
 *   made. Each known subject has its own limit per address. Subjects that this replica has not seen share another limit
 *   per address, so they may have to retry while somebody at their address sends forged credentials. A known subject
 *   whose own limit is reached also uses the shared limit.
 */
import { type Code, ExchangeError, type Match } from '@measurement-exchange/contract';
import type { PrincipalResolver } from '../auth/principals.ts';
import { type Permit, unacceptable, type Verified, type Verifier } from '../auth/verified.ts';
import { authorize, type Principal } from '../operations/index.ts';
import type { Credentials } from './credentials.ts';
import { type Bucket, type Rate, RateLimiter } from './rateLimiter.ts';

export interface Identity {
  verified: Verified;
  principal: Principal;
}

export interface IdentifierOptions {
  tokens: Verifier<string>;
  apiKeys: Verifier<string>;
  /** Verifies X.509 certificates in DER. */
  clientCertificates: Verifier<Uint8Array>;
  principals: PrincipalResolver;
  /** The rate limit of a subject that is not bound to a principal, or whose principal is suspended. */
  strangerRate: Rate;
}

const BAD: Rate = { perSecond: 50, burst: 200 };
const FORGED: Rate = { perSecond: 50, burst: 200 };
const FORGED_OF_KNOWN_SUBJECT: Rate = { perSecond: 1, burst: 10 };
/** The codes of errors after which it is unknown whether the caller is authorized. */
const UNDECIDED: readonly Code[] = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'INTERNAL'];
const TOO_MANY_BAD = 'Too many bad credentials from this address';

export class Identifier {
  private readonly options: IdentifierOptions;
  private readonly bad = new RateLimiter(() => BAD);
  private readonly forged = new RateLimiter(() => FORGED);
  private readonly forgedOfKnownSubjects = new RateLimiter(() => FORGED_OF_KNOWN_SUBJECT);
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
    const verified = this.recallVerified(credentials);
    const principal = verified && this.options.principals.recall(verified);
    return principal && { verified: verified!, principal };
  }

  async identify(credentials: Credentials): Promise<Identity> {
    const verified = await this.verify(credentials);
    try {
      return { verified, principal: await this.options.principals.resolve(verified) };
    } catch (error) {
      throw isStranger(error)
        ? this.charge(this.strangers.bucketOf(subjectOf(verified)), 'Too many requests', error)
        : error;
    }
  }

  /**
   * Returns whether the caller is still allowed to call the route. Also returns true if the check itself fails, for
   * example because the database is down.
   */
  async isStillAuthorized(credentials: Credentials, { route, params }: Match): Promise<boolean> {
    try {
      const { principal } = this.recall(credentials) ?? (await this.identify(credentials));
      authorize(principal, route, params);
      return true;
    } catch (error) {
      return !(error instanceof ExchangeError) || UNDECIDED.includes(error.code);
    }
  }

  private async verify(credentials: Credentials): Promise<Verified> {
    const { address } = credentials;
    let forged: Bucket | undefined;
    try {
      return await this.check(credentials, (knownSubject) => {
        forged = this.forgeriesOf(address, knownSubject);
        if (forged.isEmpty) throw forged.error(TOO_MANY_BAD);
      });
    } catch (error) {
      if (!(error instanceof ExchangeError && error.reason === 'TOKEN_INVALID')) throw error;
      forged?.take();
      throw this.charge(this.bad.bucketOf(address), TOO_MANY_BAD, error);
    }
  }

  private recallVerified(credentials: Credentials): Verified | undefined {
    const { tokens, apiKeys, clientCertificates } = this.options;
    switch (credentials.kind) {
      case 'bearer':
        return tokens.recall(credentials.token);
      case 'apiKey':
        return apiKeys.recall(credentials.key);
      case 'certificate':
        return clientCertificates.recall(credentials.x509Der);
      case 'none':
        return undefined;
    }
  }

  private async check(credentials: Credentials, permit: Permit): Promise<Verified> {
    const { tokens, apiKeys, clientCertificates } = this.options;
    switch (credentials.kind) {
      case 'bearer':
        return tokens.verify(credentials.token, permit);
      case 'apiKey':
        return apiKeys.verify(credentials.key, permit);
      case 'certificate':
        return clientCertificates.verify(credentials.x509Der, permit);
      case 'none':
        throw unacceptable(credentials.why);
    }
  }

  private forgeriesOf(address: string, knownSubject: string | undefined): Bucket {
    if (knownSubject !== undefined) {
      const bucket = this.forgedOfKnownSubjects.bucketOf(`${address} ${knownSubject}`);
      if (!bucket.isEmpty) return bucket;
    }
    return this.forged.bucketOf(address);
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

function subjectOf({ issuer, subject }: Verified): string {
  return `${issuer} ${subject}`;
}
