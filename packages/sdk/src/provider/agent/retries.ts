/** When the requisitions that failed, or were deferred, are tried again. */
import type { EventGroup } from '@measurement-exchange/contract';
import { backoffMs, type Clock } from '../../client/clock.ts';
import { isTransient } from '../../client/index.ts';
import { MAX_REJECTIONS, UploadRejected } from '../multiParty/rejections.ts';
import { type Deferred, isRecorded, NotRecordedYet } from './deferral.ts';
import type { AgentEvent } from './logEvents.ts';
import { NotServed } from './served.ts';

/** The backoff after a failed requisition or poll is five times that of a call: 1 s at first, 50 s at most. */
const BACKOFF_FACTOR = 5;

export interface RetriesOptions {
  clock: Clock;
  fetchEventGroup(name: string): Promise<EventGroup>;
  isServed(reference: string): boolean;
  /** Makes a poll due after this time at the latest. */
  pollIn(ms: number): void;
  log(event: AgentEvent): void;
}

export interface Retries {
  isDue(requisition: string): boolean;
  /** It failed. */
  retry(requisition: string, error: unknown): void;
  /** It was deferred until this time, and is due earlier where its events are recorded earlier. */
  defer(requisition: string, until: number, why: Deferred): Promise<void>;
  /** How often it was deferred in a row. */
  deferrals(requisition: string): number;
  /**
   * Makes deferred ones due whose events are recorded by now, those of these event groups, or of all; and held ones whose
   * references are confirmed by now.
   */
  release(eventGroups?: ReadonlySet<string>): Promise<void>;
  /** Makes a poll due when this one is. */
  arm(requisition: string): void;
  delete(requisition: string): void;
  names(): Iterable<string>;
}

interface Retry {
  attempts: number;
  deferrals: number;
  notBefore: number;
  /** Where it is deferred until events are recorded. */
  awaited?: NotRecordedYet;
  /** Where it is held until these references are confirmed. */
  held?: readonly string[];
}

export function createRetries({ clock, fetchEventGroup, isServed, pollIn, log }: RetriesOptions): Retries {
  const retries = new Map<string, Retry>();

  async function releaseRecorded(eventGroup: string, deferred: Retry[]): Promise<void> {
    const { dataAvailabilityInterval } = await fetchEventGroup(eventGroup);
    for (const retry of deferred) {
      if (isRecorded(retry.awaited!.end, dataAvailabilityInterval?.endTime)) retry.notBefore = 0;
    }
  }

  return {
    isDue: (name) => clock.now() >= (retries.get(name)?.notBefore ?? 0),

    retry(name, error) {
      const { attempts: failed = 0, deferrals = 0 } = retries.get(name) ?? {};
      const attempts = failed + 1;
      const isRejection = error instanceof UploadRejected;
      const backoff = Math.max(Math.round(retryBackoffMs(attempts)), retryAfterMs(error));
      const inMs = isRejection ? error.waitMs : backoff;
      retries.set(name, { attempts, deferrals, notBefore: clock.now() + inMs });
      const about = { requisition: name, inMs, why: messageOf(error) };
      if (isRejection) {
        const { rejections, remedy } = error;
        log({ type: 'rejected', rejections, most: MAX_REJECTIONS, remedy, ...about });
      } else log({ type: 'retrying', attempt: attempts, ...about });
    },

    async defer(name, until, why) {
      const awaited = why instanceof NotRecordedYet ? why : undefined;
      const held = why instanceof NotServed ? why.references : undefined;
      const deferrals = (retries.get(name)?.deferrals ?? 0) + 1;
      const waits = { ...(awaited && { awaited }), ...(held && { held }) };
      const retry: Retry = { attempts: 0, deferrals, notBefore: until, ...waits };
      retries.set(name, retry);
      const about = { requisition: name, until: new Date(until).toISOString(), why: why.message };
      log(held ? { type: 'held', references: held, ...about } : { type: 'deferred', ...about });
      if (awaited === undefined) return;
      // When the event group changed since it was read, this was not there to be released; a poll releases it too.
      await releaseRecorded(awaited.eventGroup, [retry]).catch(() => {});
    },

    deferrals: (name) => retries.get(name)?.deferrals ?? 0,

    async release(eventGroups) {
      for (const retry of retries.values()) if (retry.held?.every(isServed)) retry.notBefore = 0;
      const deferred = [...retries.values()].filter(
        ({ awaited }) => awaited && (eventGroups?.has(awaited.eventGroup) ?? true),
      );
      for (const [eventGroup, some] of Map.groupBy(deferred, ({ awaited }) => awaited!.eventGroup)) {
        try {
          await releaseRecorded(eventGroup, some);
        } catch (error) {
          // The next poll asks again; an event group that was deleted is found by the next attempt.
          if (isTransient(error)) return;
        }
      }
    },

    arm(name) {
      const retry = retries.get(name);
      if (retry) pollIn(retry.notBefore - clock.now());
    },

    delete: (name) => void retries.delete(name),
    names: () => retries.keys(),
  };
}

export function retryBackoffMs(failedAttempts: number): number {
  return BACKOFF_FACTOR * backoffMs(failedAttempts);
}

/** What the other side asked for (Retry-After), up to an hour. */
export function retryAfterMs(error: unknown): number {
  const { retryAfterSeconds = 0 } = (error ?? {}) as { retryAfterSeconds?: number };
  return 1000 * Math.min(retryAfterSeconds, 3600);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
