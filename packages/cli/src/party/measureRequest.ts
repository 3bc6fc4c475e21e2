/** Converts the arguments of `mex measure` to a MeasurementRequest. */
import {
  type EventGroup,
  ExchangeError,
  type Protocol,
  type Timestamp,
  toPlainJson,
} from '@measurement-exchange/contract';
import type {
  ExchangeClient,
  MeasurementRequest,
  RequestedDataProvider,
  RequestType,
} from '@measurement-exchange/sdk';
import { InvalidArgumentError } from 'commander';
import { given } from '../calls/command.ts';
import { readJsonObject } from '../files/input.ts';
import { choicesIn, chosenGroups, idOf, type ProviderChoice, requireProviders } from './described.ts';

export const TYPES: Record<string, RequestType> = {
  reach: 'reach',
  frequency: 'reachAndFrequency',
  impressions: 'impression',
  duration: 'duration',
  population: 'population',
};

export interface Asked {
  provider?: ProviderChoice[];
  from?: Timestamp;
  to?: Timestamp;
  filter?: string;
  epsilon: number;
  delta: number;
  frequencyEpsilon?: number;
  frequencyDelta?: number;
  maxFrequency?: number;
  maxWatchDuration?: number;
  sampling?: { start: number; width: number };
  modelLine?: string;
  protocol?: Protocol;
  title?: string;
  reference?: string;
  requestId?: string;
}

export async function readRequestFile(file: string): Promise<MeasurementRequest> {
  const json = await readJsonObject(file, 'a request as mex measure … --dry-run prints it');
  return toPlainJson(json) as MeasurementRequest;
}

/**
 * Parses `dataProviders/streamly`, `streamly`, or `streamly:spring,summer`, where `spring` and `summer` are event
 * groups. Returns the earlier choices followed by the new one.
 */
export function parseProvider(text: string, earlier: ProviderChoice[] = []): ProviderChoice[] {
  const [, id, groups] = /^(?:dataProviders\/)?([A-Za-z0-9_-]{1,63})(?::(.+))?$/.exec(text) ?? [];
  if (id === undefined)
    throw new InvalidArgumentError('It must look like dataProviders/x or dataProviders/x:group,group.');
  const name = `dataProviders/${id}`;
  if (earlier.some((choice) => choice.name === name))
    throw new InvalidArgumentError(`${name} is given twice.`);
  return [...earlier, { name, ...(groups && { eventGroups: groups.split(',') }) }];
}

export function parseFilter(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('It is empty: leave out --filter to measure everybody.');
}

export function parseSampling(text: string): { start: number; width: number } {
  const [start, width, ...rest] = text.split(',').map(Number);
  if (rest.length === 0 && Number.isFinite(start) && Number.isFinite(width)) {
    return { start: start!, width: width! };
  }
  throw new InvalidArgumentError('It must be start,width, such as 0,0.5 for the first half.');
}

const SECONDS: Record<string, number> = { '': 1, s: 1, m: 60, h: 3600 };

export function parseSeconds(text: string): number {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([smh]?)$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * SECONDS[unit]!;
  throw new InvalidArgumentError('It must be a time such as 90s, 5m or 1h.');
}

export function parseNumber(text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number)) return number;
  throw new InvalidArgumentError('It must be a number.');
}

const OPTIONS: readonly [RegExp, string][] = [
  [/^frequencyPrivacy\.epsilon$/, '--frequency-epsilon'],
  [/^frequencyPrivacy\.delta$/, '--frequency-delta'],
  [/^privacy\.epsilon$/, '--epsilon'],
  [/^privacy\.delta$/, '--delta'],
  [/^maximumFrequency(PerUser)?$/, '--max-frequency'],
  [/^maximumWatchDurationSeconds$/, '--max-watch-duration'],
  [/^vidSampling/, '--sampling'],
  [/^modelLine$/, '--model-line'],
  [/^title$/, '--title'],
  [/^referenceId$/, '--reference'],
  [/^requestId$/, '--request-id'],
  [/\.interval(\.start|\.end)?$/, '--from and --to'],
  [/\.filter$/, '--filter'],
];

/** Replaces field names with option names in an error about a request that was built from options. */
export function inOptions(error: unknown): unknown {
  if (!(error instanceof ExchangeError)) return error;
  const lines = error.violations.map(({ field, description }) => {
    const option = OPTIONS.find(([pattern]) => pattern.test(field))?.[1];
    return option && `${option}: ${description}`;
  });
  return lines.length === 0 || lines.includes(undefined)
    ? error
    : new Error([...new Set(lines)].join('\n  '));
}

export interface Question {
  request: MeasurementRequest;
  eventGroups: EventGroup[];
}

export async function questionIn(file: string, client: ExchangeClient, consumer: string): Promise<Question> {
  const request = await readRequestFile(file);
  return { request, eventGroups: await eventGroupsIn(request, client, consumer) };
}

/**
 * Returns the event groups in a request. Throws an error that lists all providers and event groups that do not exist.
 */
export async function eventGroupsIn(
  request: MeasurementRequest,
  client: ExchangeClient,
  consumer: string,
): Promise<EventGroup[]> {
  const choices = choicesIn(request);
  if (choices === undefined) return [];
  return [...(await groupsOf(client, consumer, request.type, choices)).values()].flat();
}

/** Builds the request from the options. Looks up the event groups that each provider has created for the consumer. */
export async function questionOf(
  client: ExchangeClient,
  consumer: string,
  type: RequestType,
  asked: Asked,
): Promise<Question> {
  const missing = missingOptions(type, asked);
  if (missing.length > 0) throw new Error(`${missing.join('\n  ')}\n(mex measure --help has examples)`);
  const choices = asked.provider ?? [];
  const groups = await groupsOf(client, consumer, type, choices);
  const dataProviders = choices.map(({ name }) =>
    type === 'population' ? populationOf(name, asked) : eventsOf(name, groups.get(name)!, asked),
  );
  return { request: requestOf(type, asked, dataProviders), eventGroups: [...groups.values()].flat() };
}

async function groupsOf(
  client: ExchangeClient,
  consumer: string,
  type: RequestType,
  choices: ProviderChoice[],
): Promise<Map<string, EventGroup[]>> {
  if (type !== 'population') return chosenGroups(client, consumer, choices);
  await requireProviders(
    client,
    choices.map(({ name }) => name),
  );
  return new Map();
}

function requestOf(
  type: RequestType,
  asked: Asked,
  dataProviders: RequestedDataProvider[],
): MeasurementRequest {
  const { epsilon, delta, frequencyEpsilon, frequencyDelta, maxFrequency } = asked;
  const { modelLine, reference, requestId } = asked;
  return {
    type,
    ...given({ title: asked.title || undefined }),
    dataProviders,
    ...(type !== 'population' && { privacy: { epsilon, delta } }),
    ...(type === 'reachAndFrequency' &&
      (frequencyEpsilon !== undefined || frequencyDelta !== undefined) && {
        frequencyPrivacy: { epsilon: frequencyEpsilon ?? epsilon, delta: frequencyDelta ?? delta },
      }),
    ...(type === 'reachAndFrequency' && maxFrequency !== undefined && { maximumFrequency: maxFrequency }),
    ...(type === 'impression' && { maximumFrequencyPerUser: maxFrequency! }),
    ...(type === 'duration' && { maximumWatchDurationSeconds: asked.maxWatchDuration! }),
    ...given({ vidSampling: asked.sampling, protocol: asked.protocol }),
    ...given({ modelLine: modelLine || undefined, referenceId: reference || undefined }),
    ...given({ requestId: requestId || undefined }),
  };
}

function missingOptions(type: RequestType, asked: Asked): string[] {
  const missing: string[] = [];
  if (asked.provider === undefined)
    missing.push('--provider is missing: whom to ask, such as dataProviders/streamly.');
  for (const { name, eventGroups } of type === 'population' ? (asked.provider ?? []) : []) {
    if (eventGroups)
      missing.push(`${name}: a population has no event groups: leave out :${eventGroups.join()}.`);
  }
  if (type !== 'population' && (asked.from === undefined || asked.to === undefined)) {
    missing.push(
      '--from and --to are missing: the days to count, such as --from 2026-01-01 --to 2026-02-01.',
    );
  }
  if (type === 'impression' && asked.maxFrequency === undefined) {
    missing.push(
      '--max-frequency is missing: how many impressions of one person count at most. More means more noise.',
    );
  }
  if (type === 'duration' && asked.maxWatchDuration === undefined) {
    missing.push(
      '--max-watch-duration is missing: how much time of one person counts at most. More means more noise.',
    );
  }
  return missing;
}

function populationOf(name: string, { from, to, filter }: Asked): RequestedDataProvider {
  const interval = from && to ? { interval: { start: from, end: to } } : {};
  return { name, population: { ...given({ filter }), ...interval } };
}

function eventsOf(name: string, groups: EventGroup[], { from, to, filter }: Asked): RequestedDataProvider {
  return {
    name,
    eventGroups: groups.map((group) => ({
      name: `${name}/eventGroups/${idOf(group)}`,
      interval: { start: from!, end: to! },
      ...given({ filter }),
    })),
  };
}
