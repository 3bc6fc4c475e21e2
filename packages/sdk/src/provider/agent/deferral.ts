/** Defers requisitions that cannot be answered yet. Nothing is read or charged for a deferred requisition. */
import type { Requisition } from '@measurement-exchange/contract';
import type { Clock } from '../../client/clock.ts';
import type { ExchangeClient } from '../../client/index.ts';
import type { Selection } from '../verify/selection.ts';

const HOUR_MS = 3600_000;
/**
 * The first and the longest backoff between two attempts to answer a deferred requisition. The backoff doubles with
 * each deferral, so that the exchange stores few deferrals. If the interval of the selected events has not ended yet,
 * the agent can wait longer.
 */
const [FIRST_DEFERRAL_MS, LONGEST_DEFERRAL_MS] = [HOUR_MS, 24 * HOUR_MS];
/**
 * The longest and the shortest deferral. The exchange rejects a deferral that is over 30 days long or has already
 * ended.
 */
const [MOST_AHEAD_MS, LEAST_AHEAD_MS] = [29 * 24 * HOUR_MS, 60_000];
/** The default number of hours that the agent waits for late events after an interval ends. */
const GRACE_HOURS = 7 * 24;

/** Thrown if a requisition cannot be answered yet. The reason never depends on the content of the events. */
export class Deferred extends Error {
  override readonly name: string = 'Deferred';
  /** The reason that the exchange sees, which must not reveal anything about the encrypted specification. */
  readonly reason: string;

  constructor(message: string, reason: string) {
    super(message);
    this.reason = reason;
  }
}

/** Thrown if some of the selected events have not been recorded yet. */
export class NotRecordedYet extends Deferred {
  override readonly name = 'NotRecordedYet';
  readonly eventGroup: string;
  readonly end: Date;
  /** From this time (milliseconds since 1970), the requisition is answered with the events recorded so far. */
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

/** Whether all events before `end` have been recorded, according to the event group. */
export function isRecorded(end: Date, recordedUntil: Date | string | undefined): boolean {
  return recordedUntil !== undefined && new Date(recordedUntil) >= end;
}

/**
 * Throws NotRecordedYet if a selected event group may still be missing events. An event group is complete when
 * `recordedUntil` reaches the end of the interval, or when the grace period after the interval is over. An event group
 * without `recordedUntil` is complete when the interval ends.
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

/**
 * Tells the exchange about the deferral, unless an earlier deferral with the same reason still applies. Resolves to the
 * time of the next attempt.
 */
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
  // Wait at least until the interval has ended, but not beyond `completeAt`. From `completeAt`, the requisition is
  // answered with the events recorded so far.
  const { end, completeAt } = deferred;
  const wait = Math.min(Math.max(backoff, end.getTime() - now), completeAt - now, MOST_AHEAD_MS);
  return Math.max(wait, LEAST_AHEAD_MS);
}
