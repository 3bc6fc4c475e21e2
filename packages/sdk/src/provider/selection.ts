/**
 * Which events or people a requisition selects, and whether this consumer may ask about them. The provider's own
 * settings decide that: what the exchange says of an event group can narrow it down, and never grants anything.
 */
import { type EventGroup, ExchangeError, type PlainSpec, parseName } from '@measurement-exchange/contract';
import { LIMITS } from './limits.ts';
import { RefusalError } from './refusalError.ts';
import type { PlainInterval, PlainRequisitionSpec } from './requisitionSpec.ts';

/** Who may ask about the events of a reference. */
export interface ReferenceAccess {
  /** Resource names: `measurementConsumers/acme`. */
  measurementConsumers: readonly string[];
  /** Resource names of event groups with these events, needed only where `eventGroupReferenceId` does not tell. */
  eventGroups?: readonly string[];
}

/** The events that consumers may ask about, by their reference: the value that selects them in the provider's data. */
export type References = Readonly<Record<string, ReferenceAccess>>;

/** The selected events of one event group. */
export interface SelectedEvents {
  /** The event group's reference in the events. */
  reference: string;
  interval: PlainInterval;
  filter?: string;
}

/** What a requisition selects: events, or a part of the population. */
export type Selection =
  | { events: SelectedEvents[]; population?: undefined }
  | { population: { filter?: string }; events?: undefined };

/** The provider whose event groups may be selected, and how to read them. */
export interface SelectionContext {
  /** This provider: `dataProviders/…`. */
  name: string;
  fetchEventGroup(name: string): Promise<EventGroup>;
  /** `unchecked` in development only: it believes what the exchange says of event groups. */
  references: References | 'unchecked';
}

export async function selectionOf(
  spec: PlainSpec,
  { events, population }: PlainRequisitionSpec,
  measurementConsumer: string,
  context: SelectionContext,
): Promise<Selection> {
  if (spec.measurementType === 'POPULATION') {
    if (!population) throw invalid('A population measurement selects a population, not events.');
    return { population: population.filter === undefined ? {} : { filter: population.filter } };
  }
  if (!events || events.length === 0) {
    throw invalid(`A measurement of ${spec.measurementType} selects event groups.`);
  }
  let days = 0;
  const names = new Set<string>();
  const selected: SelectedEvents[] = [];
  for (const { eventGroup: name, interval, filter } of events) {
    if (!interval) throw invalid(`${name}: the collection interval must start before it ends.`);
    if (names.has(name)) throw invalid(`${name} is selected twice.`);
    names.add(name);
    days += (interval.end.getTime() - interval.start.getTime()) / 86_400_000 + 1;
    if (days > LIMITS.days) throw invalid(`More than ${LIMITS.days} days of event groups are selected.`);
    const eventGroup = await ownEventGroup(name, measurementConsumer, context);
    requireRecorded(name, eventGroup, interval);
    const reference = referenceOf(name, eventGroup, measurementConsumer, context);
    selected.push({ reference, interval, ...(filter !== undefined && { filter }) });
  }
  return { events: selected };
}

/** The event group exists, is active, and belongs to this provider and this consumer. */
async function ownEventGroup(
  name: string,
  measurementConsumer: string,
  context: SelectionContext,
): Promise<EventGroup> {
  const parsed = parseName('eventGroup', name);
  if (!parsed || `dataProviders/${parsed.dataProvider}` !== context.name) {
    throw invalid(`${name} is no event group of ${context.name}.`);
  }
  const eventGroup = await found(
    context.fetchEventGroup(name),
    'EVENT_GROUP_NOT_FOUND',
    invalid(`${name} does not exist.`),
  );
  if (eventGroup.measurementConsumer !== measurementConsumer) {
    throw invalid(`${name} is not for ${measurementConsumer}.`);
  }
  if (eventGroup.state !== 'ACTIVE') throw invalid(`${name} is ${eventGroup.state}.`);
  return eventGroup;
}

/** Refuses an interval before the first recorded event; later events may still be recorded. */
function requireRecorded(name: string, eventGroup: EventGroup, { end }: PlainInterval): void {
  const since = eventGroup.dataAvailabilityInterval?.startTime;
  if (since === undefined || end > new Date(since)) return;
  throw new RefusalError('UNFULFILLABLE', `${name} has events since ${since} only.`);
}

/** The reference of an event group, whose events this consumer may ask about. */
function referenceOf(
  name: string,
  { eventGroupReferenceId }: EventGroup,
  measurementConsumer: string,
  { references }: SelectionContext,
): string {
  const reference = ownReference(name, references) ?? eventGroupReferenceId;
  if (!reference) throw invalid(`${name} has no eventGroupReferenceId, and is listed under no reference.`);
  if (references === 'unchecked') return reference;
  const access = Object.hasOwn(references, reference) ? references[reference] : undefined;
  if (access?.measurementConsumers.includes(measurementConsumer)) return reference;
  throw invalid(
    `${name} is about ${JSON.stringify(reference)}, and references does not list ${measurementConsumer} for it.`,
  );
}

/** The reference that lists the event group. */
function ownReference(name: string, references: SelectionContext['references']): string | undefined {
  if (references === 'unchecked') return undefined;
  return Object.keys(references).find((reference) => references[reference]!.eventGroups?.includes(name));
}

function invalid(problem: string): RefusalError {
  return new RefusalError('SPEC_INVALID', problem);
}

/** Refuses when the resource does not exist on the exchange; every other error is retried. */
export async function found<T>(
  resource: Promise<T>,
  absent: 'CERTIFICATE_NOT_FOUND' | 'EVENT_GROUP_NOT_FOUND',
  refusal: RefusalError,
): Promise<T> {
  try {
    return await resource;
  } catch (error) {
    throw error instanceof ExchangeError && error.reason === absent ? refusal : error;
  }
}
