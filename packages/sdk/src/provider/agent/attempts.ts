/**
 * Processes requisitions: limits how many run at the same time, makes consumers take turns, and handles each outcome.
 */
import { ExchangeError, type Requisition } from '@measurement-exchange/contract';
import { awaitsDuchies } from '../verify/shareShuffle.ts';
import { type AgentContext, consumerOf } from './context.ts';
import { Deferred, defer } from './deferral.ts';
import type { RequisitionSpan } from './options.ts';
import { type AttemptOptions, Responder } from './responder.ts';
import { Retries } from './retries.ts';
import { NotServed } from './served.ts';
import { createBounds, createTurns, type Turns } from './turns.ts';

const CONCURRENCY = 2;
/**
 * The maximum number of requisitions in memory. `direct` limits each consumer's direct requisitions. `upload` limits
 * each consumer's requisitions for the same fulfilling duchy, which is the duchy that receives the upload.
 */
const OPEN_PER_CONSUMER = { direct: 16, upload: 8 };

/** Decides which requisitions the agent is allowed to try now. `onStart` is called when an attempt starts. */
export interface Due {
  isDue(name: string): boolean;
  onStart?(name: string): void;
}

/**
 * Keeps track of open requisitions. A requisition waits in `awaitingDuchies` until its duchies have published their
 * keys, is in `running` while it is processed, and moves to `retries` after a failure or deferral. A closed requisition
 * is in `handled` until the next poll.
 */
export class Attempts {
  readonly retries: Retries;
  readonly running = new Map<string, Promise<void>>();
  readonly counts = { handled: 0, failed: 0 };
  /** Whether requisitions that the last poll skipped can be started now. */
  hasRoom = false;
  /** The requisitions that the last poll could not start, because too many with the same bound run. */
  private readonly refused = new Set<string>();
  private readonly context: AgentContext;
  private readonly responder: Responder;
  private readonly turns: Turns;
  private readonly bounds;
  private readonly awaitingDuchies = new Set<string>();
  /** The requisitions handled since the last poll began. That poll's list may still show them as open. */
  private readonly handled = new Set<string>();

  /** `pollIn` schedules a poll after the given number of milliseconds, unless a poll is due sooner. */
  constructor(context: AgentContext, pollIn: (ms: number) => void) {
    const { clock, log, isServed, eventGroups, concurrency = CONCURRENCY } = context;
    this.context = context;
    this.responder = new Responder(context);
    this.turns = createTurns(concurrency);
    this.bounds = createBounds(() => {
      this.hasRoom = true;
      pollIn(0);
    });
    this.retries = new Retries({ clock, log, isServed, fetchEventGroup: eventGroups.read, pollIn });
  }

  beginPoll(): void {
    this.hasRoom = false;
    this.handled.clear();
    this.refused.clear();
  }

  keepOnly(open: ReadonlySet<string>): void {
    for (const name of this.retries.names()) if (!open.has(name)) this.retries.delete(name);
    for (const name of this.awaitingDuchies) if (!open.has(name)) this.awaitingDuchies.delete(name);
  }

  /** Schedules a poll for the time when the first retry is due. */
  armRetries(): void {
    for (const name of this.retries.names()) {
      const isWaiting = this.awaitingDuchies.has(name) || this.refused.has(name);
      if (!this.running.has(name) && !isWaiting) this.retries.arm(name);
    }
  }

  start(requisition: Requisition, { isDue, onStart }: Due, signal?: AbortSignal): void {
    const name = requisition.name!;
    if (!this.handled.has(name)) this.context.monitor.sawOpen(requisition);
    if (this.running.has(name) || this.handled.has(name) || !isDue(name)) return;
    if (this.mustAwaitDuchies(requisition) || !this.retries.hasRoomFor(requisition)) return;
    const { key, most } = boundOf(requisition);
    if (!this.bounds.admit(key, most)) {
      this.refused.add(name);
      return;
    }
    onStart?.(name);
    const job = this.attemptInTurn(requisition, signal).finally(() => {
      this.running.delete(name);
      this.retries.arm(name);
      this.bounds.end(key);
    });
    this.running.set(name, job);
  }

  /**
   * Whether the requisition must wait until its duchies have published their keys. A requisition whose protocol is not
   * configured does not wait, because it is refused.
   */
  private mustAwaitDuchies(requisition: Requisition): boolean {
    const name = requisition.name!;
    const { participant, log } = this.context;
    const isOffered = participant?.protocols.some((protocol) => requisition.protocolConfig?.[protocol]);
    if (!awaitsDuchies(requisition) || !isOffered) {
      this.awaitingDuchies.delete(name);
      return false;
    }
    if (!this.awaitingDuchies.has(name)) log({ type: 'waiting', requisition: name });
    this.awaitingDuchies.add(name);
    return true;
  }

  private async attemptInTurn(requisition: Requisition, signal?: AbortSignal): Promise<void> {
    const release = await this.turns.take(consumerOf(requisition));
    try {
      if (!signal?.aborted) await this.attempt(requisition, { signal, release });
    } finally {
      release();
    }
  }

  /**
   * Tries once to respond to the requisition. The returned promise never rejects, because failed attempts are retried
   * later.
   */
  private async attempt(requisition: Requisition, options: AttemptOptions): Promise<void> {
    const { ledger, log, trace = (_, work) => work() } = this.context;
    const name = requisition.name!;
    try {
      let isDeferred = false;
      await trace(spanOf(requisition), async () => {
        try {
          await this.responder.respond(requisition, options);
        } catch (error) {
          if (!(error instanceof Deferred)) throw error;
          await this.defer(requisition, error, options.signal);
          isDeferred = true;
        }
      });
      if (isDeferred) return;
    } catch (error) {
      if (!isGone(error)) {
        this.counts.failed++;
        if (!options.signal?.aborted) this.retries.retry(requisition, error);
        return;
      }
      log({ type: 'closed', requisition: name, state: 'DELETED', charged: ledger.isCharged(name) });
    }
    this.counts.handled++;
    this.handled.add(name);
    ledger.held.remove(name);
    this.retries.delete(name);
  }

  private async defer(requisition: Requisition, deferred: Deferred, signal?: AbortSignal): Promise<void> {
    const { client, clock, ledger } = this.context;
    const name = requisition.name!;
    if (deferred instanceof NotServed) {
      const { references } = deferred;
      ledger.held.set({ requisition: name, measurementConsumer: consumerOf(requisition), references });
    } else ledger.held.remove(name);
    const earlier = this.retries.deferrals(name);
    const until = await defer(client, requisition, { deferred, earlier, clock, signal });
    await this.retries.defer(requisition, until, deferred);
  }
}

/** Returns the limit that applies to a requisition: at most `most` requisitions with the same `key` are in memory. */
function boundOf(requisition: Requisition): { key: string; most: number } {
  const { protocolConfig, fulfillingDuchy } = requisition;
  const consumer = consumerOf(requisition);
  if (protocolConfig?.direct) return { key: consumer, most: OPEN_PER_CONSUMER.direct };
  return { key: `${consumer} ${fulfillingDuchy ?? ''}`, most: OPEN_PER_CONSUMER.upload };
}

function spanOf({ name = '', dataProvider = '', traceparent }: Requisition): RequisitionSpan {
  return {
    name: 'requisition',
    attributes: { 'mex.party': dataProvider, 'mex.requisition': name },
    traceparent,
  };
}

/**
 * Whether the error means that the requisition does not exist. The exchange deletes a requisition when its retention
 * period ends.
 */
export function isGone(error: unknown): boolean {
  return error instanceof ExchangeError && error.reason === 'REQUISITION_NOT_FOUND';
}
