/**
 * The way of every request, whatever face it comes in by: authenticate, authorize, rate, admit, deadline, operation,
 * observe. A face translates its wire to these plain values and back, and reaches an operation in no other way: `run`
 * takes what only `authorize` makes, which takes what only `authenticate` makes.
 */
import {
  type Code,
  ExchangeError,
  type Match,
  type Operation,
  type RequestOf,
} from '@measurement-exchange/contract';
import type { Logger } from 'pino';
import type { PrincipalResolver } from '../auth/principals.ts';
import type { TokenVerifier, VerifiedToken } from '../auth/tokens.ts';
import type { Metrics } from '../observability/metrics.ts';
import {
  authorize,
  type Call,
  type Exchange,
  type Handler,
  operations,
  type Principal,
} from '../operations/index.ts';
import { Admission } from './admission.ts';
import { Computing } from './computing.ts';
import { Deadline, withDeadline } from './deadline.ts';
import { type Credentials, Identifier } from './identify.ts';
import { type Outcome, observe, type Progress } from './observe.ts';
import { type Rate, RateLimiter } from './rateLimiter.ts';

export interface PipelineOptions {
  exchange: Exchange;
  tokens: TokenVerifier;
  principals: PrincipalResolver;
  metrics: Metrics;
  log: Logger;
  rateOf: (principal: string) => Rate;
  strangerRate: Rate;
  /** Within which every request that was received gets its response. */
  deadlineMs?: number;
}

/**
 * The database has timeouts of its own for each query. Authentication queries it, and then the operation: one after
 * the other they would take longer than the ten seconds that a caller has to wait at most.
 */
const DEADLINE_MS = 9_500;

/** Codes of errors that say nothing about the caller. */
const AWAY: readonly Code[] = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'INTERNAL'];

/** A caller whose credentials were good. */
class Authenticated {
  /** Makes the type one that no other object has. */
  declare protected readonly brand: 'authenticated';
  readonly progress: Progress;
  readonly principal: Principal;
  readonly token: VerifiedToken;
  /** What is left of the deadline; the time in which the body arrives does not count. */
  readonly leftMs: number;

  constructor(progress: Progress, principal: Principal, token: VerifiedToken, leftMs: number) {
    this.progress = progress;
    this.principal = principal;
    this.token = token;
    this.leftMs = leftMs;
  }
}

/** A call that its caller may make, within its rate. */
class Authorized {
  declare protected readonly brand: 'authorized';
  readonly caller: Authenticated;
  readonly match: Match;

  constructor(caller: Authenticated, match: Match) {
    this.caller = caller;
    this.match = match;
  }
}

// The types alone: nobody else can make one.
export type { Authenticated, Authorized };

/** How a face hands over one request and its response. */
export interface Transfer<Wire> {
  /** Whether the caller has hung up. */
  isGone(): boolean;
  /** Aborted when the caller hangs up. */
  gone(): AbortSignal;
  /** Reads the request of this route with these names, the ones that were authorized, when its turn has come. */
  read(match: Match): RequestOf<Operation> | Promise<RequestOf<Operation>>;
  /** Writes the response, while the database commits where the operation allows that. */
  write(resource: unknown): Wire;
}

export class Pipeline {
  private readonly options: PipelineOptions;
  private readonly deadlineMs: number;
  private readonly identifier: Identifier;
  private readonly perPrincipal: RateLimiter;
  private readonly admission = new Admission();
  private readonly computing: Computing;

  constructor(options: PipelineOptions) {
    this.options = options;
    this.deadlineMs = options.deadlineMs ?? DEADLINE_MS;
    this.identifier = new Identifier(options);
    this.perPrincipal = new RateLimiter(options.rateOf);
    this.computing = new Computing(this.perPrincipal, this.admission);
    watchAdmission(options.metrics, this.admission);
  }

  async authenticate(credentials: Credentials, progress: Progress): Promise<Authenticated> {
    const began = performance.now();
    const { token, principal } =
      this.identifier.recall(credentials) ??
      (await withDeadline(this.deadlineMs, this.identifier.identify(credentials)));
    progress.principal = principal;
    if (principal.kind !== 'operator') this.options.exchange.lastSeen.note(principal.name);
    return new Authenticated(progress, principal, token, this.deadlineMs - (performance.now() - began));
  }

  /** Decided from names alone, before anything is looked up; then the caller's rate. */
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

  /** Whether a caller who was authorized once still is; whoever cannot be looked up right now is. */
  async isStillAuthorized({ route, params }: Match, credentials: Credentials): Promise<boolean> {
    try {
      const { principal } =
        this.identifier.recall(credentials) ?? (await this.identifier.identify(credentials));
      authorize(principal, route, params);
      return true;
    } catch (error) {
      return !(error instanceof ExchangeError) || AWAY.includes(error.code);
    }
  }

  /** A slow sender holds no slot: its body is there by now. Nor does a slow reader: its response is written. */
  run<Wire>(authorized: Authorized, transfer: Transfer<Wire>): Promise<Wire> {
    const { principal, leftMs } = authorized.caller;
    const deadline = new Deadline(leftMs);
    const work = this.admission.run(
      principal.name,
      () => transfer.isGone(),
      () => this.operate(authorized, transfer, deadline),
    );
    return deadline.bound(work);
  }

  private async operate<Wire>(
    authorized: Authorized,
    transfer: Transfer<Wire>,
    deadline: Deadline,
  ): Promise<Wire> {
    const { exchange, metrics } = this.options;
    const { name: principal } = authorized.caller.principal;
    const request = await transfer.read(authorized.match);
    const ahead: { written?: { resource: unknown; wire: Wire } } = {};
    const call = callOf(authorized, {
      respond: (resource) => {
        ahead.written = { resource, wire: transfer.write(resource) };
        return resource;
      },
      compute: (job, input) => this.computing.run(principal, () => transfer.isGone(), job, input),
      waitAside: (wait) =>
        this.admission.outside(principal, () => deadline.pause(() => wait(transfer.gone()))),
    });
    const operation = operations[authorized.match.route.operation as Operation] as Handler<never>;
    const response = await operation(exchange, call, request as never).catch((error) => {
      const isInside =
        error instanceof ExchangeError && error.violations.length > 0 && request.wrapper !== '';
      throw isInside ? error.wrappedIn(request.wrapper) : error;
    });
    for (const finding of call.findings) metrics.finding(finding.code);
    const { written } = ahead;
    return written !== undefined && written.resource === response ? written.wire : transfer.write(response);
  }

  /** Ends what is still computed. */
  stop(): Promise<void> {
    return this.computing.stop();
  }

  /** When the response is out, or the stream has ended. */
  observe(progress: Progress, outcome: Outcome): void {
    observe(this.options.log, this.options.metrics, progress, outcome);
  }
}

/** `respond` takes a response that is ready before the operation is done. */
export function callOf(
  { caller }: Authorized,
  serving: Pick<Call, 'respond' | 'compute' | 'waitAside'>,
): Call {
  const { progress, principal, token } = caller;
  const { issuer, subject } = token;
  progress.call = { principal, issuer, subject, requestId: progress.requestId, findings: [], ...serving };
  return progress.call;
}

/** What a caller is told of an error that is not its own; the log has its cause. */
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
