/** The draft of an event group in the form, and its conversion to an event group. */
import {
  type ATTRIBUTE_TYPES,
  type EventGroup,
  type EventGroupInput,
  isAttributeName,
  type MediaType,
} from '@measurement-exchange/contract';

export interface Draft {
  consumer: string;
  reference: string;
  brand: string;
  campaign: string;
  mediaTypes: readonly MediaType[];
  /**
   * The first and the last day with data, such as `2026-11-01`. `until` is empty if the interval has no end, and both
   * are empty if there is no interval.
   */
  from: string;
  until: string;
  attributes: readonly AttributeDraft[];
}

export interface AttributeDraft {
  name: string;
  type: (typeof ATTRIBUTE_TYPES)[number];
  description: string;
  /** Example values, separated by commas. */
  examples: string;
}

const DAY_MS = 86_400_000;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const CONSUMERS = 'measurementConsumers/';

export function draftOf(group: Partial<EventGroup> = {}): Draft {
  const { startTime, endTime } = group.dataAvailabilityInterval ?? {};
  const { brandName = '', campaignName = '' } = group.eventGroupMetadata?.adMetadata.campaignMetadata ?? {};
  return {
    consumer: group.measurementConsumer?.slice(CONSUMERS.length) ?? '',
    reference: group.eventGroupReferenceId ?? '',
    brand: brandName,
    campaign: campaignName,
    mediaTypes: group.mediaTypes ?? [],
    from: startTime === undefined ? '' : dayOf(Date.parse(startTime)),
    until: endTime === undefined ? '' : dayOf(Date.parse(endTime) - 1),
    attributes: (group.attributes ?? []).map(({ name, type, description = '', exampleValues = [] }) => ({
      name,
      type,
      description,
      examples: exampleValues.join(', '),
    })),
  };
}

type ShownField =
  | 'measurementConsumer'
  | 'eventGroupReferenceId'
  | 'mediaTypes'
  | 'dataAvailabilityInterval'
  | 'attributes'
  | 'eventGroupMetadata';
type HiddenField = Exclude<keyof EventGroupInput, ShownField>;
/**
 * The fields that the form does not show. The type is a record, so that the code compiles only if every field of an
 * event group is in `ShownField` or in this record.
 */
const HIDDEN: Record<HiddenField, true> = {
  eventTemplates: true,
  vidModelLines: true,
  entityKey: true,
  encryptedMetadata: true,
  measurementConsumerPublicKey: true,
};

/** Returns the fields that the form does not show. An update must include them, or the exchange would remove them. */
function hiddenOf(current: Partial<EventGroup>): Pick<EventGroupInput, HiddenField> {
  const fields = Object.keys(HIDDEN) as HiddenField[];
  return Object.fromEntries(
    fields.filter((field) => current[field] !== undefined).map((field) => [field, current[field]]),
  );
}

/** Converts the draft to an event group. Copies the fields that the form does not show from `current`. */
export function inputOf(draft: Draft, current: Partial<EventGroup> = {}): EventGroupInput {
  const before = draftOf(current);
  const { brand, campaign, attributes, mediaTypes, reference } = draft;
  const consumer = draft.consumer.trim();
  const interval = intervalOf(draft, before, current);
  const entityMetadata = current.eventGroupMetadata?.entityMetadata;
  const hasMetadata = brand !== '' || campaign !== '' || entityMetadata !== undefined;
  return {
    ...hiddenOf(current),
    measurementConsumer: consumer.startsWith(CONSUMERS) ? consumer : `${CONSUMERS}${consumer}`,
    ...(reference !== '' && { eventGroupReferenceId: reference }),
    ...((mediaTypes.length > 0 || current.mediaTypes) && { mediaTypes: [...mediaTypes] }),
    ...(interval && { dataAvailabilityInterval: interval }),
    ...((attributes.length > 0 || current.attributes) && {
      attributes: attributes.map((attribute) => attributeOf(attribute, current)),
    }),
    ...(hasMetadata && {
      eventGroupMetadata: {
        adMetadata: {
          campaignMetadata: {
            ...(brand !== '' && { brandName: brand }),
            ...(campaign !== '' && { campaignName: campaign }),
          },
        },
        ...(entityMetadata !== undefined && { entityMetadata }),
      },
    }),
  };
}

/**
 * Returns the interval from the draft's first to its last day. Keeps the exact start time if the user did not change
 * the first day, and the exact end time if the user did not change the last day. These times may not be midnight.
 */
function intervalOf(draft: Draft, before: Draft, { dataAvailabilityInterval: kept }: Partial<EventGroup>) {
  if (draft.from === '') return undefined;
  const startTime = draft.from === before.from ? kept!.startTime : `${draft.from}T00:00:00Z`;
  if (draft.until === '') return { startTime };
  const isKept = draft.until === before.until;
  const dayAfter = dayOf(Date.parse(draft.until) + DAY_MS);
  return { startTime, endTime: isKept ? kept!.endTime! : `${dayAfter}T00:00:00Z` };
}

function attributeOf({ name, type, description, examples }: AttributeDraft, current: Partial<EventGroup>) {
  const kept = current.attributes?.find((attribute) => attribute.name === name)?.exampleValues;
  const exampleValues =
    kept?.join(', ') === examples ? kept : examples.split(',').flatMap((text) => text.trim() || []);
  return {
    name: name.trim(),
    type,
    ...(description !== '' && { description }),
    ...(exampleValues.length > 0 && { exampleValues }),
  };
}

export type DraftField = 'consumer' | 'reference' | 'from' | 'until' | 'attributes';

export function problemsOf({ consumer, reference, from, until, attributes }: Draft): Map<DraftField, string> {
  const problems = new Map<DraftField, string>();
  if (consumer.trim() === '') problems.set('consumer', 'Say which advertiser may ask about these events');
  if (reference.trim() === '')
    problems.set('reference', 'Without a reference, the agent cannot find the events in your files');
  if (until !== '' && from === '') problems.set('from', 'A last day needs a first day');
  if (until !== '' && from !== '' && until < from) problems.set('until', 'The last day is before the first');
  const names = attributes.map(({ name }) => name.trim());
  const wrong = names.find((name) => !isAttributeName(name));
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (wrong !== undefined)
    problems.set('attributes', `${wrong === '' ? 'An empty name' : `"${wrong}"`} cannot be used in a filter`);
  else if (twice !== undefined) problems.set('attributes', `"${twice}" is there twice`);
  return problems;
}

export function factsOf(draft: Draft): Map<string, string> {
  return new Map([
    ['Advertiser', draft.consumer],
    ['Reference', draft.reference],
    ['Brand', draft.brand],
    ['Campaign', draft.campaign],
    ['Media', [...draft.mediaTypes].sort().join(', ')],
    ['First day', draft.from],
    ['Last day', draft.until],
    [
      'Attributes',
      draft.attributes
        .map(({ name, type, description, examples }) =>
          [`${name} ${type}`, description, examples].filter(Boolean).join(': '),
        )
        .join('\n'),
    ],
  ]);
}

export interface Difference {
  label: string;
  theirs: string;
  mine: string;
}

export function differencesOf(theirs: Draft, mine: Draft): Difference[] {
  const other = factsOf(theirs);
  return [...factsOf(mine)].flatMap(([label, value]) =>
    other.get(label) === value ? [] : { label, theirs: other.get(label)!, mine: value },
  );
}
