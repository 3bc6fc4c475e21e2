/** Defers requisitions that cannot be answered yet. Nothing is read or charged for a deferred requisition. */
import type { Requisition } from '@measurement-exchange/contract';
import type { Clock } from '../../client/clock.ts';
import type { ExchangeClient } from '../../client/index.ts';
import type { Selection } from '../verify/selection.ts';

const HOUR_MS = 3600_000;
/** Each deferral of a requisition is twice as long as the one before, because the exchange stores every deferral. */
const [FIRST_DEFERRAL_MS, LONGEST_DEFERRAL_MS] = [HOUR_MS, 24 * HOUR_MS];
/** An exchange rejects deferrals of more than 30 days, and deferrals that have already ended. */
const [MOST_AHEAD_MS, LEAST_AHEAD_MS] = [29 * 24 * HOUR_MS, 60_000];
/** Events are rarely recorded more than a week late. */
const GRACE_HOURS = 7 * 24;

/** The requisition waits, for a reason that does not depend on the content of the events. */
export class Deferred extends Error {
  override readonly name: string = 'Deferred';
  /** The exchange reads this reason, so it must not reveal anything of the encrypted specification. */
  readonly reason: string;

  constructor(message: string, reason: string) {
    super(message);
    this.reason = reason;
  }
}

/** Some of the selected events will be recorded later. */
export class NotRecordedYet extends Deferred {
  override readonly name = 'NotRecordedYet';
  readonly eventGroup: string;
  /** The end of the requested interval. */
  readonly end: Date;
  /** The time at which the requisition is answered with the events that are recorded by then. */
  readonly completeAt: number;

  constructor(
    message: string,
    { eventGroup, end, completeAt }: { eventGroup: string; end: Date; completeAt: number },
  ) {
    super(message, 'Not all of the events that it asks for are recorded yet.');
    this.eventGroup = eventGroup;
    this.end = end;
    this.completeAt = completeAt;
  }
}

/** Whether the events before `end` are recorded, according to the event group. */
export function isRecorded(end: Date, recordedUntil: Date | string | undefined): boolean {
  return recordedUntil !== undefined && new Date(recordedUntil) >= end;
}

/**
 * Throws while more events of a selected event group may be recorded: until the event group says that they are, or until
 * the grace period after the end of the interval. An event group that never says so is complete at the end of the interval.
 */
export function requireRecorded({ events = [] }: Selection, now: number, graceHours = GRACE_HOURS): void {
  for (const { eventGroup, reference, interval, recordedUntil } of events) {
    const { end } = interval;
    const completeAt = end.getTime() + (recordedUntil === undefined ? 0 : graceHours * HOUR_MS);
    if (isRecorded(end, recordedUntil) || now >= completeAt) continue;
    const until = recordedUntil ? `recorded until ${recordedUntil.toISOString()}` : 'still being recorded';
    throw new NotRecordedYet(
      `The events of ${reference} are ${until}, and it asks for those until ${end.toISOString()}.`,
      { eventGroup, end, completeAt },
    );
  }
}

/** Tells the exchange, unless an earlier deferral still applies. Resolves to the time of the next attempt. */
export async function defer(
  client: ExchangeClient,
  { name, deferral }: Requisition,
  /** `earlier` is the number of earlier deferrals. */
  options: { deferred: Deferred; earlier: number; clock: Clock; signal?: AbortSignal | undefined },
): Promise<number> {
  const { deferred, earlier, clock, signal } = options;
  const now = clock.now();
  const { reason } = deferred;
  const told = deferral?.reason === reason ? Date.parse(deferral.until) : 0;
  if (told > now) return told;
  const until = now + waitMs(deferred, earlier, now);
  const body = { reason, until: new Date(until).toISOString() };
  await client.deferRequisition({ name: name!, body, signal });
  return until;
}

function waitMs(deferred: Deferred, earlier: number, now: number): number {
  const backoff = Math.min(FIRST_DEFERRAL_MS * 2 ** earlier, LONGEST_DEFERRAL_MS);
  if (!(deferred instanceof NotRecordedYet)) return backoff;
  // The next attempt is after the interval ends, but not after the time at which the requisition is answered anyway.
  const { end, completeAt } = deferred;
  const wait = Math.min(Math.max(backoff, end.getTime() - now), completeAt - now, MOST_AHEAD_MS);
  return Math.max(wait, LEAST_AHEAD_MS);
}
