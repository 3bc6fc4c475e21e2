/** Which events or people a requisition is about, and whether they are the consumer's to ask about. */
import { type EventGroup, ExchangeError, type PlainSpec, parseName } from '@measurement-exchange/contract';
import { LIMITS } from './limits.ts';
import { Refuse } from './refuse.ts';
import type { PlainInterval, PlainRequisitionSpec } from './requisitionSpec.ts';

/** The events of one event group that are asked about. */
export interface SelectedEvents {
  /** The resource name. */
  eventGroup: string;
  /** What the events call it. */
  reference: string;
  interval: PlainInterval;
  filter?: string;
}

/** What a requisition is about: events, or a part of the population. */
export type Selection =
  | { events: SelectedEvents[]; population?: undefined }
  | { population: { filter?: string }; events?: undefined };

/** Whose event groups may be selected, and how they are looked up. */
export interface SelectionContext {
  /** This provider: `dataProviders/…`. */
  name: string;
  fetchEventGroup(name: string): Promise<EventGroup>;
  /** The event group in the events, by its resource name, where it is not its `eventGroupReferenceId`. */
  references?: Readonly<Record<string, string>> | undefined;
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
  const selected = new Map<string, SelectedEvents>();
  for (const { eventGroup: name, interval, filter } of events) {
    if (!interval) throw invalid(`${name}: the collection interval must start before it ends.`);
    if (selected.has(name)) throw invalid(`${name} is selected twice.`);
    days += (interval.end.getTime() - interval.start.getTime()) / 86_400_000 + 1;
    if (days > LIMITS.days) throw invalid(`More than ${LIMITS.days} days of event groups are selected.`);
    const eventGroup = await ownEventGroup(name, measurementConsumer, context);
    requireRecorded(name, eventGroup, interval);
    const reference = referenceOf(name, eventGroup, context);
    selected.set(name, { eventGroup: name, reference, interval, ...(filter !== undefined && { filter }) });
  }
  return { events: [...selected.values()] };
}

/** It is ours, there, and one that we described to this consumer. */
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

/** What lies before the first event recorded never comes; what lies after the last may. */
function requireRecorded(name: string, eventGroup: EventGroup, { end }: PlainInterval): void {
  const since = eventGroup.dataAvailabilityInterval?.startTime;
  if (since === undefined || end > new Date(since)) return;
  throw new Refuse('UNFULFILLABLE', `${name} has events since ${since} only.`);
}

function referenceOf(name: string, eventGroup: EventGroup, { references }: SelectionContext): string {
  const reference = references?.[name] ?? eventGroup.eventGroupReferenceId;
  if (reference) return reference;
  // Whoever runs this provider can mend that, so it is no refusal.
  throw new Error(
    `${name} has no eventGroupReferenceId: give it one, or say in eventGroups what the events call it.`,
  );
}

function invalid(problem: string): Refuse {
  return new Refuse('SPEC_INVALID', problem);
}

/** Of the exchange's answers only that there is no such resource is final; a missing route, say, is not. */
export async function found<T>(
  resource: Promise<T>,
  absent: 'CERTIFICATE_NOT_FOUND' | 'EVENT_GROUP_NOT_FOUND',
  refuse: Refuse,
): Promise<T> {
  try {
    return await resource;
  } catch (error) {
    throw error instanceof ExchangeError && error.reason === absent ? refuse : error;
  }
}
