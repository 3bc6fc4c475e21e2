/**
 * Implements the ModelLines service. The exchange does not store model lines. It knows only the names that populations
 * list. The service ignores names that are not resource names of the public API.
 */
import { create } from '@bufbuild/protobuf';
import type { ServiceImpl } from '@connectrpc/connect';
import {
  type DataProvider,
  ExchangeError,
  type Interval,
  invalid,
  type Population,
  parseTimestamp,
  REQUIRED,
} from '@measurement-exchange/contract';
import {
  EnumerateValidModelLinesResponseSchema,
  type ListModelLinesRequest,
  ListModelLinesResponseSchema,
  type ModelLine,
  ModelLine_Type,
  ModelLineSchema,
  type ModelLines,
} from '@measurement-exchange/contract/rpc';
import { type Api, type Call, idsIn } from './api.ts';
import { fromInterval } from './intervals.ts';
import { getParty } from './parties.ts';
import { given, toTimestamp } from './values.ts';

const ID = '[A-Za-z0-9_-]{1,63}';
const NAME = new RegExp(`^(modelProviders/${ID}/modelSuites/${ID})/modelLines/${ID}$`);
const SUITE = new RegExp(`^modelProviders/${ID}/modelSuites/${ID}$`);
/** The name with which a request asks for the suites of all model providers. */
const EVERY_SUITE = 'modelProviders/-/modelSuites/-';
const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1000;
/** The maximum number of data providers in a request, because each data provider costs a database query. */
const MAX_DATA_PROVIDERS = 50;

export function modelLines(api: Api): Partial<ServiceImpl<typeof ModelLines>> {
  return {
    getModelLine: api.unary(async ({ name }, call) => {
      requireMatch('name', name, NAME, `${EVERY_SUITE}/modelLines/-`);
      const found = (await allModelLines(call)).find((line) => line.name === name);
      if (found !== undefined) return found;
      throw new ExchangeError('POPULATION_NOT_FOUND', `No population has ${name}.`, {
        metadata: { modelLine: name },
      });
    }),

    listModelLines: api.unary(async (message, call) => {
      const { parent, filter } = message;
      requireSuite(parent);
      // Ignore `active_interval_contains`, because all model lines are always active.
      const types = filter?.typeIn ?? [];
      const { after, limit, next } = call.pageTokens.page(['listModelLines', parent, types], {
        pageSize: pageSizeIn(message),
        pageToken: given(message.pageToken),
      });
      const lines = (await modelLinesOf(call, parent, types)).filter(({ name }) => name > after.id);
      const modelLines = lines.slice(0, limit);
      const nextPageToken = next(lines.length > limit, modelLines, ({ name: id }) => ({ time: '', id }));
      return create(ListModelLinesResponseSchema, { modelLines, nextPageToken: nextPageToken ?? '' });
    }),

    enumerateValidModelLines: api.unary(async ({ parent, timeInterval, dataProviders, types }, call) => {
      requireSuite(parent);
      const wanted = intervalIn(timeInterval);
      if (dataProviders.length === 0) throw invalid([{ field: 'dataProviders', description: REQUIRED }]);
      if (dataProviders.length > MAX_DATA_PROVIDERS) {
        const description = `must have at most ${MAX_DATA_PROVIDERS} items`;
        throw invalid([{ field: 'dataProviders', description }]);
      }
      const providers: DataProvider[] = [];
      for (const [i, name] of dataProviders.entries()) {
        providers.push(
          (await getParty(call, idsIn('dataProvider', name, `dataProviders[${i}]`))) as DataProvider,
        );
      }
      const lines = await modelLinesOf(call, parent, types);
      return create(EnumerateValidModelLinesResponseSchema, {
        modelLines: lines.filter(({ name }) => providers.every((provider) => covers(provider, name, wanted))),
      });
    }),
  };
}

/**
 * Returns whether the provider's data for the model line `name` covers the interval `wanted`. A model line without its
 * own interval has the provider's general interval.
 */
function covers(provider: DataProvider, name: string, wanted: Required<Interval>): boolean {
  const { dataAvailabilityInterval, dataAvailabilityIntervals } = provider;
  const own = dataAvailabilityIntervals?.find(({ modelLine }) => modelLine === name)?.interval;
  const available = own ?? dataAvailabilityInterval;
  if (available === undefined) return false;
  const { startTime, endTime } = available;
  return startTime <= wanted.startTime && (endTime === undefined || wanted.endTime <= endTime);
}

function intervalIn(interval: Parameters<typeof fromInterval>[0]): Required<Interval> {
  const { startTime, endTime } = fromInterval(interval) ?? {};
  const times = [startTime, endTime].map((time) => parseTimestamp(String(time ?? '')));
  const violations = ['startTime', 'endTime']
    .filter((_, i) => times[i] === undefined)
    .map((field) => ({ field: `timeInterval.${field}`, description: REQUIRED }));
  if (violations.length > 0) throw invalid(violations);
  return { startTime: times[0]!, endTime: times[1]! };
}

/**
 * Returns the model lines of one suite or of all suites, sorted by name. All model lines have the type PROD, so other
 * `types` match nothing.
 */
async function modelLinesOf(call: Call, suite: string, types: ModelLine_Type[]): Promise<ModelLine[]> {
  if (types.length > 0 && !types.includes(ModelLine_Type.PROD)) return [];
  const lines = await allModelLines(call);
  return suite === EVERY_SUITE ? lines : lines.filter(({ name }) => NAME.exec(name)![1] === suite);
}

/** Returns the model lines of all populations. There are few populations, because only operators create them. */
async function allModelLines(call: Call): Promise<ModelLine[]> {
  const lines: ModelLine[] = [];
  let pageToken: string | undefined;
  do {
    const page = await call.run('listPopulations', {}, { query: { pageSize: MAX_PAGE_SIZE, pageToken } });
    for (const population of page.populations) {
      const names = population.modelLines?.filter((name) => NAME.test(name)) ?? [];
      lines.push(...names.map((name) => toModelLine(name, population)));
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined);
  return lines.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function toModelLine(name: string, { displayName, createTime, updateTime }: Population): ModelLine {
  return create(ModelLineSchema, {
    name,
    displayName,
    type: ModelLine_Type.PROD,
    // The line is always active, because the exchange does not know when the line's model came into use. (The model
    // assigns a virtual ID to each person.)
    activeStartTime: { seconds: 0n },
    createTime: toTimestamp(createTime),
    updateTime: toTimestamp(updateTime),
  });
}

function requireSuite(name: string): void {
  requireMatch('parent', name, SUITE, EVERY_SUITE);
}

function requireMatch(field: string, value: string, pattern: RegExp, example: string): void {
  if (pattern.test(value)) return;
  throw invalid([{ field, description: value === '' ? REQUIRED : `must be like ${example}` }]);
}

function pageSizeIn({ pageSize }: ListModelLinesRequest): number {
  if (pageSize < 0) throw invalid([{ field: 'pageSize', description: 'must not be negative' }]);
  return Math.min(pageSize, MAX_PAGE_SIZE) || DEFAULT_PAGE_SIZE;
}
