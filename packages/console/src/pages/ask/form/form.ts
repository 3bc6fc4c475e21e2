/** The form of a new measurement, and its conversion to a request. */
import { cut, type EventGroup, type Protocol } from '@measurement-exchange/contract';
import type {
  MeasurementRequest,
  Question,
  RequestedDataProvider,
  RequestType,
} from '@measurement-exchange/sdk';
import { listed } from '../../../parts/names.ts';
import { idOf } from '../../../session/roles.ts';
import { type DayRange, intervalOf, rangeOfInterval } from '../days/days.ts';

export interface AskForm {
  title: string;
  type: RequestType;
  groups: readonly string[];
  /** Undefined means the default range of the picked event groups (see `defaultRange`). */
  days: DayRange | undefined;
  filter: string;
  /** Undefined means that the exchange chooses the protocol. */
  protocol: Protocol | undefined;
  epsilon: number;
  delta: number;
  maximumFrequency: number;
  impressionsPerPerson: number;
  secondsPerPerson: number;
  /** The start and the width of the sample of people, both from 0 to 1. */
  sampleStart: number;
  sampleWidth: number;
  modelLine: string;
  referenceId: string;
}

export const DEFAULTS: AskForm = {
  title: '',
  type: 'reach',
  groups: [],
  days: undefined,
  filter: '',
  protocol: undefined,
  epsilon: 1,
  delta: 1e-9,
  maximumFrequency: 10,
  impressionsPerPerson: 10,
  secondsPerPerson: 600,
  sampleStart: 0,
  sampleWidth: 1,
  modelLine: '',
  referenceId: '',
};

export const TYPE_WORDS: Record<RequestType, { label: string; meaning: string }> = {
  reach: { label: 'Reach', meaning: 'How many different people' },
  reachAndFrequency: { label: 'Reach and frequency', meaning: 'How many people, and how often each' },
  impression: { label: 'Impressions', meaning: 'How often it was shown' },
  duration: { label: 'Watch time', meaning: 'For how long it was watched' },
  population: { label: 'Population', meaning: 'How many people there are to reach' },
};

export function suggestTitle({ type, filter }: AskForm, publishers: readonly string[]): string {
  if (publishers.length === 0) return '';
  const where = filter.trim() === '' ? '' : `, ${filter.trim()}`;
  return cut(`${TYPE_WORDS[type].label} of ${listed(publishers)}${where}`, MAX_TITLE);
}

const MAX_TITLE = 200;

/** Returns whether this type can count people across publishers. The user can choose a protocol only for such types. */
export const countsPeople = (type: RequestType) => type === 'reach' || type === 'reachAndFrequency';

export function requestOf(form: AskForm, groups: readonly EventGroup[], days: DayRange): MeasurementRequest {
  const { title, type, epsilon, delta, protocol, modelLine, referenceId } = form;
  const isPopulation = type === 'population';
  const isSample = !isPopulation && (form.sampleStart !== 0 || form.sampleWidth !== 1);
  return {
    type,
    ...(title.trim() !== '' && { title: title.trim() }),
    dataProviders: dataProvidersOf(form, groups, days),
    ...(!isPopulation && { privacy: { epsilon, delta } }),
    ...(type === 'reachAndFrequency' && { maximumFrequency: form.maximumFrequency }),
    ...(type === 'impression' && { maximumFrequencyPerUser: form.impressionsPerPerson }),
    ...(type === 'duration' && { maximumWatchDurationSeconds: form.secondsPerPerson }),
    ...(isSample && { vidSampling: { start: form.sampleStart, width: form.sampleWidth } }),
    ...(protocol !== undefined && countsPeople(type) && { protocol }),
    ...(modelLine.trim() !== '' && { modelLine: modelLine.trim() }),
    ...(referenceId.trim() !== '' && { referenceId: referenceId.trim() }),
  };
}

function dataProvidersOf(
  { type, filter }: AskForm,
  groups: readonly EventGroup[],
  days: DayRange,
): RequestedDataProvider[] {
  const filtered = filter.trim() === '' ? {} : { filter };
  const interval = intervalOf(days);
  return [...Map.groupBy(groups, ({ dataProvider }) => dataProvider!)].map(([name, of]) =>
    type === 'population'
      ? { name, population: filtered }
      : {
          name,
          eventGroups: of.map((group) => ({
            name: `${name}/eventGroups/${idOf(group.name!)}`,
            interval,
            ...filtered,
          })),
        },
  );
}

/** A form filled from an earlier question. `notes` lists the parts of the question that the form cannot repeat. */
export interface Cloned {
  form: AskForm;
  /** The publishers of the question. The page needs them for a population measurement, which has no event groups. */
  publishers: readonly string[];
  notes: string[];
}

export function formOf(question: Question): Cloned {
  const asked = question.dataProviders.flatMap(({ eventGroups = [] }) => eventGroups);
  const filters = new Set(
    [...asked, ...question.dataProviders.map(({ population }) => population)].flatMap((part) =>
      part === undefined ? [] : [part.filter ?? ''],
    ),
  );
  const ranges = asked.map(({ interval }) => rangeOfInterval(interval));
  const distinct = new Set(ranges.map(({ from, until }) => `${from} ${until}`));
  const { privacy, vidSampling } = question;
  const form: AskForm = {
    ...DEFAULTS,
    title: question.title ?? '',
    type: question.type,
    groups: asked.map(({ name }) => idOf(name)),
    days: ranges[0],
    filter: [...filters][0] ?? '',
    protocol: question.protocol,
    ...(privacy && { epsilon: privacy.epsilon, delta: privacy.delta }),
    ...(question.maximumFrequency !== undefined && { maximumFrequency: question.maximumFrequency }),
    ...(question.maximumFrequencyPerUser !== undefined && {
      impressionsPerPerson: question.maximumFrequencyPerUser,
    }),
    ...(question.maximumWatchDurationSeconds !== undefined && {
      secondsPerPerson: question.maximumWatchDurationSeconds,
    }),
    ...(vidSampling && { sampleStart: vidSampling.start, sampleWidth: vidSampling.width }),
    modelLine: question.modelLine ?? '',
  };
  return {
    form,
    publishers: question.dataProviders.map(({ name }) => name),
    notes: notesOf(question, filters.size, distinct.size),
  };
}

function notesOf({ frequencyPrivacy }: Question, filters: number, ranges: number): string[] {
  return [
    ...(filters > 1 ? ['It had several filters. The first one is filled in for all event groups.'] : []),
    ...(ranges > 1
      ? ['It had several ranges of days. The first one is filled in for all event groups.']
      : []),
    ...(frequencyPrivacy ? ['It had other noise for the frequencies. Here both have the same.'] : []),
  ];
}
