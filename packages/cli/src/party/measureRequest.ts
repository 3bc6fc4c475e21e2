/** Converts the arguments of `mex measure` to a MeasurementRequest. */
import { type EventGroup, type Protocol, type Timestamp, toPlainJson } from '@measurement-exchange/contract';
import type {
  ExchangeClient,
  MeasurementRequest,
  RequestedDataProvider,
  RequestType,
} from '@measurement-exchange/sdk';
import { InvalidArgumentError } from 'commander';
import { given } from '../calls/command.ts';
import { readJsonObject } from '../files/input.ts';

/** Maps names on the command line to request types. */
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

/** Reads the file given with `--spec`. */
export async function readRequestFile(file: string): Promise<MeasurementRequest> {
  const json = await readJsonObject(file, 'a request as mex measure … --dry-run prints it');
  return toPlainJson(json) as MeasurementRequest;
}

interface ProviderChoice {
  name: string;
  /** IDs or references of event groups. If absent, all of the provider's event groups are measured. */
  eventGroups?: string[];
}

/**
 * Parses `dataProviders/streamly`, `streamly`, or `streamly:spring,summer`, where `spring` and `summer` are event groups.
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

/** Builds the request from the options. Looks up the event groups that each provider has created for the consumer. */
export async function requestOf(
  client: ExchangeClient,
  consumer: string,
  type: RequestType,
  asked: Asked,
): Promise<MeasurementRequest> {
  const missing = missingOptions(type, asked);
  if (missing.length > 0) throw new Error(`${missing.join('\n  ')}\n(mex measure --help has examples)`);
  const dataProviders = [];
  for (const choice of asked.provider ?? [])
    dataProviders.push(await partOf(client, consumer, type, choice, asked));
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

async function partOf(
  client: ExchangeClient,
  consumer: string,
  type: RequestType,
  { name, eventGroups }: ProviderChoice,
  { from, to, filter }: Asked,
): Promise<RequestedDataProvider> {
  const narrowed = filter === undefined ? {} : { filter };
  if (type === 'population') {
    if (eventGroups)
      throw new Error(`${name}: a population has no event groups: leave out :${eventGroups.join()}.`);
    const interval = from && to ? { interval: { start: from, end: to } } : {};
    return { name, population: { ...narrowed, ...interval } };
  }
  const described = await Array.fromAsync(
    client.listEventGroups({ parent: consumer, 'filter.dataProviders': [name], pageSize: 1000 }),
  );
  if (described.length === 0) {
    throw new Error(
      `${name} has described no event group to ${consumer}: ask it to (mex event-groups create).`,
    );
  }
  const chosen = eventGroups ? eventGroups.map((text) => find(described, text, name)) : described;
  return {
    name,
    eventGroups: chosen.map((group) => ({
      name: `${name}/eventGroups/${idOf(group)}`,
      interval: { start: from!, end: to! },
      ...narrowed,
    })),
  };
}

function find(described: EventGroup[], text: string, provider: string): EventGroup {
  const found =
    described.find((group) => idOf(group) === text) ??
    described.find((group) => group.eventGroupReferenceId === text);
  if (found !== undefined) return found;
  const all = described.map((group) => group.eventGroupReferenceId ?? idOf(group)).slice(0, 20);
  throw new Error(`${provider} has described no event group ${text} to you. There are: ${all.join(', ')}.`);
}

function idOf({ name }: EventGroup): string {
  return name!.split('/').at(-1)!;
}
