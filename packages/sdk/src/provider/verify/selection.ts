/**
 * Reads which events or people a requisition selects, and checks whether this consumer is allowed to ask about them.
 * Only the provider's settings grant access. The exchange's data about an event group can only restrict the selection.
 */
import { type EventGroup, ExchangeError, type PlainSpec, parseName } from '@measurement-exchange/contract';
import type { RefusalCode } from '../../refusals/codes.ts';
import { RefusalError, type RefusalPlace } from '../../refusals/refusalError.ts';
import { LIMITS } from './limits.ts';
import type { PlainInterval, PlainRequisitionSpec } from './requisitionSpec.ts';

/** The settings for one event group reference, such as the consumers that are allowed to ask about its events. */
export interface ReferenceAccess {
  /** Resource names such as `measurementConsumers/acme`. */
  measurementConsumers: readonly string[];
  /**
   * Declares that the provider's data contains this reference's events. If not set, requisitions for the reference are
   * held until the operator confirms the reference (`confirmReferences`, `mex provider check`).
   */
  served?: boolean;
  /** Resource names of event groups that use this reference although their `eventGroupReferenceId` is different. */
  eventGroups?: readonly string[];
}

/**
 * The settings for each reference. A reference is the value that selects an event group's events in the provider's
 * data.
 */
export type References = Readonly<Record<string, ReferenceAccess>>;

/** The selected events of one event group. */
export interface SelectedEvents {
  eventGroup: string;
  /** The event group's reference in the provider's events. */
  reference: string;
  interval: PlainInterval;
  filter?: string;
  /** The time until which events are recorded, if the event group states one. */
  recordedUntil?: Date;
}

/** The selection of a requisition: events, or a part of the population. */
export type Selection =
  | { events: SelectedEvents[]; population?: undefined }
  | { population: { filter?: string }; events?: undefined };

/** The provider, its settings, and a function that reads event groups. */
export interface SelectionContext {
  name: string;
  fetchEventGroup(name: string): Promise<EventGroup>;
  /** Use `unchecked` only in development, because it relies on the exchange's data about event groups. */
  references: References | 'unchecked';
}

export async function selectionOf(
  spec: PlainSpec,
  { events, population }: PlainRequisitionSpec,
  measurementConsumer: string,
  context: SelectionContext,
): Promise<Selection> {
  if (spec.measurementType === 'POPULATION') {
    if (!population) {
      const at = 'population';
      throw new RefusalError('SELECTION_MISMATCH', 'A population measurement selects a population.', { at });
    }
    return { population: population.filter === undefined ? {} : { filter: population.filter } };
  }
  if (!events || events.length === 0) {
    const message = `A measurement of ${spec.measurementType} selects event groups.`;
    throw new RefusalError('SELECTION_MISMATCH', message, { at: 'events' });
  }
  let days = 0;
  const names = new Set<string>();
  const selected: SelectedEvents[] = [];
  for (const [i, { eventGroup: name, interval, filter }] of events.entries()) {
    const place = { name, at: `events[${i}]` } as const;
    if (!interval) {
      throw refusal('INTERVAL_INVALID', place, 'has an interval, which must start before it ends');
    }
    if (names.has(name)) throw refusal('EVENT_GROUP_REPEATED', place, 'is selected twice');
    names.add(name);
    days += (interval.end.getTime() - interval.start.getTime()) / 86_400_000 + 1;
    if (days > LIMITS.days) throw refusal('TOO_MANY_DAYS', place, `exceeds ${LIMITS.days} days in all`);
    const eventGroup = await ownEventGroup(place, measurementConsumer, context);
    requireRecorded(place, eventGroup, interval);
    const reference = referenceOf(place, eventGroup, measurementConsumer, context);
    const until = eventGroup.dataAvailabilityInterval?.endTime;
    selected.push({
      ...{ eventGroup: name, reference, interval },
      ...(filter !== undefined && { filter }),
      ...(until !== undefined && { recordedUntil: new Date(until) }),
    });
  }
  return { events: selected };
}

/** Requires that the event group exists, is active, and belongs to this provider and this consumer. */
async function ownEventGroup(
  place: Place,
  measurementConsumer: string,
  context: SelectionContext,
): Promise<EventGroup> {
  const unavailable = (problem: string) => refusal('EVENT_GROUP_UNAVAILABLE', place, problem);
  const parsed = parseName('eventGroup', place.name);
  if (!parsed || `dataProviders/${parsed.dataProvider}` !== context.name) {
    throw unavailable(`is not an event group of ${context.name}`);
  }
  const eventGroup = await found(
    context.fetchEventGroup(place.name),
    'EVENT_GROUP_NOT_FOUND',
    unavailable('does not exist'),
  );
  if (eventGroup.measurementConsumer !== measurementConsumer) {
    throw unavailable(`is not for ${measurementConsumer}`);
  }
  if (eventGroup.state !== 'ACTIVE') throw unavailable(`is ${eventGroup.state}`);
  return eventGroup;
}

/**
 * Refuses an interval that ends before or at the start of the event group's data availability interval. An interval
 * that ends after the data availability interval is accepted, because its later events may still be recorded.
 */
function requireRecorded(place: Place, eventGroup: EventGroup, { end }: PlainInterval): void {
  const since = eventGroup.dataAvailabilityInterval?.startTime;
  if (since === undefined || end > new Date(since)) return;
  throw refusal('EVENTS_NOT_RECORDED', place, `has events since ${since} only`);
}

/**
 * Returns the event group's reference. Throws a refusal if the settings do not allow this consumer to ask about the
 * reference.
 */
function referenceOf(
  place: Place,
  { eventGroupReferenceId }: EventGroup,
  measurementConsumer: string,
  { references }: SelectionContext,
): string {
  const reference = ownReference(place.name, references) ?? eventGroupReferenceId;
  if (!reference) {
    const problem = 'has no eventGroupReferenceId, and is listed under no reference';
    throw refusal('EVENT_GROUP_UNAVAILABLE', place, problem);
  }
  if (references === 'unchecked') return reference;
  const access = Object.hasOwn(references, reference) ? references[reference] : undefined;
  if (access?.measurementConsumers.includes(measurementConsumer)) return reference;
  throw refusal(
    'EVENT_GROUP_UNAVAILABLE',
    place,
    `is about ${JSON.stringify(reference)}, and references does not list ${measurementConsumer} for it`,
  );
}

function ownReference(name: string, references: SelectionContext['references']): string | undefined {
  if (references === 'unchecked') return undefined;
  return Object.keys(references).find((reference) => references[reference]!.eventGroups?.includes(name));
}

/** The resource name of a selected event group, and where the specification selects it. */
interface Place {
  name: string;
  at: RefusalPlace;
}

function refusal(code: RefusalCode, { name, at }: Place, problem: string): RefusalError {
  return new RefusalError(code, `${name} ${problem}.`, { at });
}

/** Waits for a resource. If reading it fails with the reason `absent`, throws `refusal`. Rethrows any other error. */
export async function found<T>(
  resource: Promise<T>,
  absent: 'EVENT_GROUP_NOT_FOUND' | 'POPULATION_NOT_FOUND',
  refusal: RefusalError,
): Promise<T> {
  try {
    return await resource;
  } catch (error) {
    throw error instanceof ExchangeError && error.reason === absent ? refusal : error;
  }
}
