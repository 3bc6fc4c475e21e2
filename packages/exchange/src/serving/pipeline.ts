/**
 * Runs the steps of every request: authenticate, authorize, rate limit, set a deadline, admit, run the operation,
 * observe. A server cannot run an operation without the earlier steps: `run` and `open` need an `Authorized`, which
 * only `authorize` creates. `authorize` needs an `Authenticated`, which only `authenticate` creates.
 */
import { ExchangeError, type Match, type Operation, type RequestOf } from '@measurement-exchange/contract';
import type { Logger } from 'pino';
import { flush } from '../observability/deferred.ts';
import type { Metrics } from '../observability/metrics.ts';
import {
  authorize,
  type Call,
  type Exchange,
  type Handler,
  operations,
  type Principal,
  type Watch,
} from '../operations/index.ts';
import { Admission } from './admission.ts';
import { Computing } from './computing.ts';
import type { Credentials } from './credentials.ts';
import { Deadline, deadlineExceeded } from './deadline.ts';
import { Identifier, type IdentifierOptions, type Identity } from './identify.ts';
import { type Outcome, observe, type Progress } from './observe.ts';
import { type Rate, RateLimiter } from './rateLimiter.ts';
import { type OpenStream, Streams } from './streams.ts';

export interface PipelineOptions extends IdentifierOptions {
  exchange: Exchange;
  metrics: Metrics;
  log: Logger;
  rateOf: (principal: string) => Rate;
  deadlineMs?: number;
}

/** The time limit for authentication and the operation together, because callers should get a response within 10 s. */
const DEADLINE_MS = 9_500;

class Authenticated {
  /** Makes the type nominal, so that no other object is assignable to it. */
  declare protected readonly brand: 'authenticated';
  readonly progress: Progress;
  readonly credentials: Credentials;
  readonly identity: Identity;
  /** The time left until the deadline. The time in which the request body arrives does not count. */
  readonly leftMs: number;

  constructor(progress: Progress, credentials: Credentials, identity: Identity, leftMs: number) {
    this.progress = progress;
    this.credentials = credentials;
    this.identity = identity;
    this.leftMs = leftMs;
  }

  get principal(): Principal {
    return this.identity.principal;
  }
}

/** A call that the caller is allowed to make and that is within the caller's rate limit. */
class Authorized {
  declare protected readonly brand: 'authorized';
  readonly caller: Authenticated;
  readonly match: Match;

  constructor(caller: Authenticated, match: Match) {
    this.caller = caller;
    this.match = match;
  }
}

// Export only the types, so that no other module can create these objects.
export type { Authenticated, Authorized };

export interface Transfer {
  isGone(): boolean;
  gone(): AbortSignal;
  /** The time until the caller stops waiting, in milliseconds. Undefined if the caller set no limit. */
  leftMs?: number | undefined;
  /** Reads the request. The pipeline calls this when the request has a slot. `match` is the authorized route. */
  read(match: Match): RequestOf<Operation> | Promise<RequestOf<Operation>>;
}

export class Pipeline {
  private readonly options: PipelineOptions;
  private readonly deadlineMs: number;
  private readonly identifier: Identifier;
  private readonly perPrincipal: RateLimiter;
  private readonly admission = new Admission();
  private readonly computing: Computing;
  private readonly streams = new Streams();

  constructor(options: PipelineOptions) {
    this.options = options;
    this.deadlineMs = options.deadlineMs ?? DEADLINE_MS;
    this.identifier = new Identifier(options);
    this.perPrincipal = new RateLimiter(options.rateOf);
    this.computing = new Computing(this.perPrincipal, this.admission);
    watchAdmission(options.metrics, this.admission);
  }

  /** Creates page tokens for lists that a server assembles from several operations. */
  get pageTokens(): Exchange['pageTokens'] {
    return this.options.exchange.pageTokens;
  }

  /** Identifies the caller. Returns no promise if the caller was identified recently, which is the usual case. */
  authenticate(credentials: Credentials, progress: Progress): Authenticated | Promise<Authenticated> {
    const known = this.identifier.recall(credentials);
    if (known !== undefined) return this.identified(credentials, progress, known, this.deadlineMs);
    const began = performance.now();
    return new Deadline(this.deadlineMs)
      .bound(this.identifier.identify(credentials))
      .then((identity) =>
        this.identified(credentials, progress, identity, this.deadlineMs - (performance.now() - began)),
      );
  }

  private identified(
    credentials: Credentials,
    progress: Progress,
    identity: Identity,
    leftMs: number,
  ): Authenticated {
    const { principal } = identity;
    progress.principal = principal;
    if (principal.kind !== 'operator') this.options.exchange.lastSeen.note(principal.name);
    return new Authenticated(progress, credentials, identity, leftMs);
  }

  /**
   * Throws if the caller is not allowed to make this call, or if the caller has reached the rate limit. The permission
   * depends only on the names in the request. Counts the call toward the rate limit.
   */
  authorize(caller: Authenticated, match: Match): Authorized {
    const { progress, principal } = caller;
    progress.match = match;
    authorize(principal, match.route, match.params);
    const bucket = this.perPrincipal.bucketOf(principal.name);
    const tooMany = bucket.isEmpty ? bucket.error('Too many requests') : undefined;
    if (tooMany === undefined) bucket.take();
    progress.quota = bucket.quota();
    if (tooMany !== undefined) throw tooMany;
    return new Authorized(caller, match);
  }

  /** Runs the operation. The request holds no slot while its body arrives or its response is sent. */
  run<Wire>(authorized: Authorized, transfer: Transfer, write: (resource: unknown) => Wire): Promise<Wire> {
    const leftMs = Math.min(authorized.caller.leftMs, transfer.leftMs ?? Number.POSITIVE_INFINITY);
    if (leftMs <= 0) return Promise.reject(deadlineExceeded());
    const deadline = new Deadline(leftMs);
    return deadline.bound(this.admit(authorized, transfer, deadline, write));
  }

  /**
   * Opens a stream. The pipeline ends the stream after four to five minutes, or when the caller is no longer
   * authorized.
   */
  async open(authorized: Authorized, transfer: Transfer): Promise<OpenStream> {
    const { caller, match } = authorized;
    const deadline = new Deadline(caller.leftMs);
    const opening = this.admit(authorized, transfer, deadline, (resource) => resource as Watch);
    const watch = await deadline.bound(opening).catch((error) => {
      // Close the watch if it opens after the deadline, because nobody would read it.
      opening.then((late) => late.close()).catch(() => {});
      throw error;
    });
    const { credentials, progress } = caller;
    // A stream lasts for minutes, so release the memory of the call.
    progress.call = undefined;
    return this.streams.open(watch, () => this.identifier.isStillAuthorized(credentials, match));
  }

  private admit<Wire>(
    authorized: Authorized,
    transfer: Transfer,
    deadline: Deadline,
    write: (resource: unknown) => Wire,
  ): Promise<Wire> {
    const { name } = authorized.caller.principal;
    return this.admission.run(
      name,
      () => transfer.isGone() || deadline.hasPassed,
      () => this.operate(authorized, transfer, deadline, write),
    );
  }

  private async operate<Wire>(
    authorized: Authorized,
    transfer: Transfer,
    deadline: Deadline,
    write: (resource: unknown) => Wire,
  ): Promise<Wire> {
    const { exchange, metrics } = this.options;
    const { name: principal } = authorized.caller.principal;
    const read = transfer.read(authorized.match);
    const request = read instanceof Promise ? await read : read;
    const call = callOf(authorized, {
      compute: (job, input) =>
        this.computing.run(principal, () => transfer.isGone() || deadline.hasPassed, job, input),
      waitAside: (wait) =>
        this.admission.outside(principal, () => deadline.pause(() => wait(transfer.gone()))),
    });
    const operation = operations[authorized.match.route.operation as Operation] as Handler<never>;
    const running = operation(exchange, call, request as never);
    // If no other request is running, write earlier log lines now, while the database works.
    if (this.admission.running === 1) setImmediate(flush);
    const response = await running;
    for (const finding of call.findings) metrics.finding(finding.code);
    return write(response);
  }

  stop(): Promise<void> {
    return this.computing.stop();
  }

  /** Logs and counts the request. Call this after the response was sent or the stream has ended. */
  observe(progress: Progress, outcome: Outcome): void {
    observe(this.options.log, this.options.metrics, progress, outcome);
  }
}

function callOf({ caller }: Authorized, serving: Pick<Call, 'compute' | 'waitAside'>): Call {
  const { progress, identity } = caller;
  const { issuer, subject } = identity.verified;
  progress.call = {
    principal: identity.principal,
    issuer,
    subject,
    requestId: progress.requestId,
    findings: [],
    ...serving,
  };
  return progress.call;
}

/** Returns the error that the caller gets if the exchange is at fault. The cause is only logged. */
export function internalError(cause: unknown): ExchangeError {
  return new ExchangeError('INTERNAL', 'The exchange failed on this request; report its request ID.', {
    cause,
  });
}

function watchAdmission(metrics: Metrics, admission: Admission): void {
  const requests = {
    name: 'mex_requests',
    help: 'Requests that are worked on, and that wait for their turn',
    labelNames: ['state'],
  };
  metrics.watch(requests, 0, async () => [
    { labels: { state: 'running' }, value: admission.running },
    { labels: { state: 'waiting' }, value: admission.waiting },
  ]);
}
