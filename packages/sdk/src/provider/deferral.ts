/** Requisitions that ask for events which are not recorded yet: the agent defers them, and looks again. */
import type { Requisition } from '@measurement-exchange/contract';
import type { Clock } from '../client/clock.ts';
import type { ExchangeClient } from '../client/index.ts';
import type { Selection } from './selection.ts';

const HOUR_MS = 3600_000;
/** When the agent looks again. */
const DEFERRAL_MS = HOUR_MS;
/** Events come late, but not later than this after the end of an interval: then what is recorded is all there is. */
const LATE_MS = 7 * 24 * HOUR_MS;

/** For the exchange and the consumer: the exchange may not learn from it what the encrypted specification selects. */
const REASON = 'Not all of the events that it asks for are recorded yet.';

/** Events that are selected will be recorded later. */
export class NotRecordedYet extends Error {
  override readonly name = 'NotRecordedYet';
  readonly eventGroup: string;
  /** Of the interval that is asked for. */
  readonly end: Date;

  constructor(message: string, { eventGroup, end }: { eventGroup: string; end: Date }) {
    super(message);
    this.eventGroup = eventGroup;
    this.end = end;
  }
}

/** Whether the events before `end` are recorded, or nobody says until when they are. */
export function isRecorded(end: Date, recordedUntil: Date | string | undefined): boolean {
  return recordedUntil === undefined || new Date(recordedUntil) >= end;
}

/** Throws while more of the selected events may come. */
export function requireRecorded({ events = [] }: Selection, now: number): void {
  for (const { eventGroup, reference, interval, recordedUntil } of events) {
    const { end } = interval;
    if (isRecorded(end, recordedUntil) || now >= end.getTime() + LATE_MS) continue;
    throw new NotRecordedYet(
      `The events of ${reference} are recorded until ${recordedUntil!.toISOString()}, and it asks for those until ` +
        `${end.toISOString()}.`,
      { eventGroup, end },
    );
  }
}

/** Tells the exchange, unless it was told and that still holds; resolves to when to look again. */
export async function defer(
  client: ExchangeClient,
  { name, deferral }: Requisition,
  clock: Clock,
  signal?: AbortSignal,
): Promise<number> {
  const now = clock.now();
  const told = deferral?.reason === REASON ? Date.parse(deferral.until) : 0;
  if (told > now) return told;
  const until = now + DEFERRAL_MS;
  const body = { reason: REASON, until: new Date(until).toISOString() };
  await client.deferRequisition({ name: name!, body, ...(signal && { signal }) });
  return until;
}
