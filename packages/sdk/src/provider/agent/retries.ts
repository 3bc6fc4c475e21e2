/** Decides when to retry requisitions that failed or were deferred. */
import type { EventGroup, Requisition } from '@measurement-exchange/contract';
import { backoffMs, type Clock } from '../../client/clock.ts';
import { messageOf } from '../../client/errors.ts';
import { isTransient } from '../../client/index.ts';
import { MAX_REJECTIONS, UploadRejected } from '../multiParty/rejections.ts';
import { consumerOf } from './context.ts';
import { type Deferred, isRecorded, NotRecordedYet } from './deferral.ts';
import type { AgentEvent } from './logEvents.ts';
import { NotServed } from './served.ts';

/**
 * The agent multiplies the usual backoff of API calls by this factor. After a failed attempt to answer a requisition,
 * the agent therefore waits at most 1 s at first, and at most 50 s later. After a failed poll, the agent waits at least
 * `pollMs`. If the server asks for a longer wait, the agent waits longer.
 */
const BACKOFF_FACTOR = 5;
/**
 * The maximum number of requisitions per consumer that wait for a retry. At this limit, the agent tries no new
 * requisitions of the consumer.
 */
export const WAITING_PER_CONSUMER = 10_000;

export interface RetriesOptions {
  clock: Clock;
  fetchEventGroup(name: string): Promise<EventGroup>;
  isServed(reference: string): boolean;
  /** Schedules a poll after the given number of milliseconds, unless a poll is due sooner. */
  pollIn(ms: number): void;
  log(event: AgentEvent): void;
}

interface Retry {
  consumer: string;
  attempts: number;
  deferrals: number;
  notBefore: number;
  /** Set if the requisition is deferred until events are recorded. */
  awaited?: NotRecordedYet;
  /** Set if the requisition is held until the operator confirms that the data contains these event group references. */
  held?: readonly string[];
}

type Named = Pick<Requisition, 'name' | 'measurement'>;

export class Retries {
  private readonly options: RetriesOptions;
  private readonly waiting = new Map<string, Retry>();
  private readonly countByConsumer = new Map<string, number>();

  constructor(options: RetriesOptions) {
    this.options = options;
  }

  isDue(name: string): boolean {
    return this.options.clock.now() >= (this.waiting.get(name)?.notBefore ?? 0);
  }

  hasRoomFor(requisition: Named): boolean {
    const count = this.countByConsumer.get(consumerOf(requisition)) ?? 0;
    return count < WAITING_PER_CONSUMER || this.waiting.has(requisition.name!);
  }

  retry(requisition: Named, error: unknown): void {
    const { clock, log } = this.options;
    const name = requisition.name!;
    const { attempts: failed = 0, deferrals = 0 } = this.waiting.get(name) ?? {};
    const attempts = failed + 1;
    const isRejection = error instanceof UploadRejected;
    const backoff = Math.max(Math.round(retryBackoffMs(attempts)), retryAfterMs(error));
    const inMs = isRejection ? error.waitMs : backoff;
    this.set(requisition, { attempts, deferrals, notBefore: clock.now() + inMs });
    const about = { requisition: name, inMs, why: messageOf(error) };
    if (isRejection) {
      const { rejections, remedy } = error;
      log({ type: 'rejected', rejections, most: MAX_REJECTIONS, remedy, ...about });
    } else log({ type: 'retrying', attempt: attempts, ...about });
  }

  /** Schedules a deferred requisition for `until`, or earlier if its events are recorded earlier. */
  async defer(requisition: Named, until: number, why: Deferred): Promise<void> {
    const { log } = this.options;
    const name = requisition.name!;
    const awaited = why instanceof NotRecordedYet ? why : undefined;
    const held = why instanceof NotServed ? why.references : undefined;
    const waits = { ...(awaited && { awaited }), ...(held && { held }) };
    const deferrals = this.deferrals(name) + 1;
    const retry = this.set(requisition, { attempts: 0, deferrals, notBefore: until, ...waits });
    const about = { requisition: name, until: new Date(until).toISOString(), why: why.message };
    log(held ? { type: 'held', references: held, ...about } : { type: 'deferred', ...about });
    if (awaited === undefined) return;
    // The event group may have changed since it was read, so check again. Ignore errors, because the next poll also
    // checks.
    await this.releaseRecorded(awaited.eventGroup, [retry]).catch(() => {});
  }

  deferrals(name: string): number {
    return this.waiting.get(name)?.deferrals ?? 0;
  }

  /**
   * Makes requisitions due if their events are now recorded, or if the operator has now confirmed that the data
   * contains their event group references. Checks for recorded events only in the given event groups, or in all event
   * groups if `eventGroups` is undefined.
   */
  async release(eventGroups?: ReadonlySet<string>): Promise<void> {
    const { isServed } = this.options;
    for (const retry of this.waiting.values()) if (retry.held?.every(isServed)) retry.notBefore = 0;
    const deferred = [...this.waiting.values()].filter(
      ({ awaited }) => awaited && (eventGroups?.has(awaited.eventGroup) ?? true),
    );
    for (const [eventGroup, some] of Map.groupBy(deferred, ({ awaited }) => awaited!.eventGroup)) {
      try {
        await this.releaseRecorded(eventGroup, some);
      } catch (error) {
        // After a transient error, the next poll checks again. If the event group was deleted, the next attempt sends a
        // refusal.
        if (isTransient(error)) return;
      }
    }
  }

  arm(name: string): void {
    const retry = this.waiting.get(name);
    if (retry) this.options.pollIn(retry.notBefore - this.options.clock.now());
  }

  delete(name: string): void {
    const retry = this.waiting.get(name);
    if (retry === undefined) return;
    this.waiting.delete(name);
    this.count(retry.consumer, -1);
  }

  names(): Iterable<string> {
    return this.waiting.keys();
  }

  private set(requisition: Named, state: Omit<Retry, 'consumer'>): Retry {
    const name = requisition.name!;
    const retry = { consumer: consumerOf(requisition), ...state };
    if (!this.waiting.has(name)) this.count(retry.consumer, 1);
    this.waiting.set(name, retry);
    return retry;
  }

  private count(consumer: string, change: 1 | -1): void {
    const count = (this.countByConsumer.get(consumer) ?? 0) + change;
    if (count > 0) this.countByConsumer.set(consumer, count);
    else this.countByConsumer.delete(consumer);
  }

  private async releaseRecorded(eventGroup: string, deferred: Retry[]): Promise<void> {
    const { dataAvailabilityInterval } = await this.options.fetchEventGroup(eventGroup);
    for (const retry of deferred) {
      if (isRecorded(retry.awaited!.end, dataAvailabilityInterval?.endTime)) retry.notBefore = 0;
    }
  }
}

export function retryBackoffMs(failedAttempts: number): number {
  return BACKOFF_FACTOR * backoffMs(failedAttempts);
}

/** Returns the wait that the server asked for (Retry-After) in milliseconds, up to an hour. */
export function retryAfterMs(error: unknown): number {
  const { retryAfterSeconds = 0 } = (error ?? {}) as { retryAfterSeconds?: number };
  return 1000 * Math.min(retryAfterSeconds, 3600);
}
