/** Requisitions that cannot be answered yet: the agent defers them, and looks again. Nothing is read, and nothing charged. */
import type { Requisition } from '@measurement-exchange/contract';
import type { Clock } from '../../client/clock.ts';
import type { ExchangeClient } from '../../client/index.ts';
import type { SelectedEvents, Selection } from '../verify/selection.ts';

const HOUR_MS = 3600_000;
/** A deferral is an hour at first, then twice as long each time: the exchange keeps a record of each. */
const [FIRST_DEFERRAL_MS, LONGEST_DEFERRAL_MS] = [HOUR_MS, 24 * HOUR_MS];
/** An exchange takes no deferral for longer than 30 days, and none that ended when it arrives. */
const [MOST_AHEAD_MS, LEAST_AHEAD_MS] = [29 * 24 * HOUR_MS, 60_000];
/** A week: events that come later are rare, and a consumer has waited long enough. */
export const GRACE_HOURS = 7 * 24;

/** The question waits, for a reason that has nothing to do with the events themselves. */
export class Deferred extends Error {
  override readonly name: string = 'Deferred';
  /** For the exchange and the consumer: the exchange may not learn from it what the encrypted specification selects. */
  readonly reason: string;

  constructor(message: string, reason: string) {
    super(message);
    this.reason = reason;
  }
}

/** Events that are selected will be recorded later. */
export class NotRecordedYet extends Deferred {
  override readonly name = 'NotRecordedYet';
  readonly eventGroup: string;
  /** The end of the interval that is asked for. */
  readonly end: Date;
  /** When it is answered with what is recorded then. */
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

/** Whether the event group says that the events before `end` are recorded. */
export function isRecorded(end: Date, recordedUntil: Date | string | undefined): boolean {
  return recordedUntil !== undefined && new Date(recordedUntil) >= end;
}

/**
 * Throws while more of the selected events may come, in any of the event groups: until it says that they are recorded,
 * or until the grace period after the end of the interval. Where it never says until when they are recorded, the end of
 * the interval is all there is to wait for.
 */
export function requireRecorded({ events = [] }: Selection, now: number, graceHours = GRACE_HOURS): void {
  const awaited = events.filter(({ interval, recordedUntil }) => !isRecorded(interval.end, recordedUntil));
  for (const selected of awaited) {
    const { eventGroup, reference, interval, recordedUntil } = selected;
    const completeAt = completeAtOf(selected, graceHours);
    if (now >= completeAt) continue;
    const until = recordedUntil ? `recorded until ${recordedUntil.toISOString()}` : 'still being recorded';
    throw new NotRecordedYet(
      `The events of ${reference} are ${until}, and it asks for those until ${interval.end.toISOString()}.`,
      { eventGroup, end: interval.end, completeAt },
    );
  }
}

function completeAtOf({ interval: { end }, recordedUntil }: SelectedEvents, graceHours: number): number {
  return end.getTime() + (recordedUntil === undefined ? 0 : graceHours * HOUR_MS);
}

/** Tells the exchange, unless it was told and that still holds; resolves to when to look again. */
export async function defer(
  client: ExchangeClient,
  { name, deferral }: Requisition,
  { deferred, earlier, clock, signal }: DeferOptions,
): Promise<number> {
  const now = clock.now();
  const { reason } = deferred;
  const told = deferral?.reason === reason ? Date.parse(deferral.until) : 0;
  if (told > now) return told;
  const until = now + waitMs(deferred, earlier, now);
  const body = { reason, until: new Date(until).toISOString() };
  await client.deferRequisition({ name: name!, body, signal });
  return until;
}

export interface DeferOptions {
  deferred: Deferred;
  /** How often it was deferred before. */
  earlier: number;
  clock: Clock;
  signal?: AbortSignal | undefined;
}

function waitMs(deferred: Deferred, earlier: number, now: number): number {
  const backoff = Math.min(FIRST_DEFERRAL_MS * 2 ** earlier, LONGEST_DEFERRAL_MS);
  if (!(deferred instanceof NotRecordedYet)) return backoff;
  // Not before the interval ends, and not longer than until it is answered anyway.
  const { end, completeAt } = deferred;
  const wait = Math.min(Math.max(backoff, end.getTime() - now), completeAt - now, MOST_AHEAD_MS);
  return Math.max(wait, LEAST_AHEAD_MS);
}
