/**
 * Reads the inputs of a plan from the exchange: event groups, the population, and the duchies that compute the figures
 * of several data providers together.
 */
import type { EventGroup, Population } from '@measurement-exchange/contract';
import {
  type NeedType,
  PlanError,
  type PlannedNeed,
  periodsOf,
  type ReportDefinition,
  type Surroundings,
} from '@measurement-exchange/reports';
import { partyOf } from '../../client/names.ts';
import { prepareMeasurement, send } from '../create.ts';
import type { Dependencies } from '../deps.ts';
import { acceptedProtocol, type DuchyProtocol, ProtocolError } from '../protocol.ts';
import { inBatches } from './batches.ts';
import { requestFor } from './requests.ts';

/**
 * The event groups of a definition, and the known facts about them and the population. The keys of `eventGroups` are
 * names such as `dataProviders/x/eventGroups/y`.
 */
export interface World {
  eventGroups: ReadonlyMap<string, EventGroup>;
  known: Pick<Surroundings, 'population' | 'subpopulations' | 'referenceOf'>;
}

export async function readWorld(deps: Dependencies, definition: ReportDefinition): Promise<World> {
  const [eventGroups, population] = await Promise.all([
    readEventGroups(deps, definition),
    populationOf(deps, definition),
  ]);
  return {
    eventGroups,
    known: {
      referenceOf: (name) => eventGroups.get(name)?.eventGroupReferenceId ?? name,
      ...(population?.size !== undefined && { population: population.size }),
      ...(population?.subpopulations && { subpopulations: population.subpopulations }),
    },
  };
}

/** Reads the definition's event groups. Throws `PlanError` if the consumer cannot see one of them. */
async function readEventGroups(
  { client, credentials, signal }: Dependencies,
  { segments }: ReportDefinition,
): Promise<Map<string, EventGroup>> {
  const named = Object.entries(segments).flatMap(([segment, { eventGroups }]) =>
    eventGroups.map((name, i) => ({ name, at: `segments[${segment}].eventGroups[${i}]` })),
  );
  const providers = [...new Set(named.map(({ name }) => partyOf(name)))];
  const found = new Map<string, EventGroup>();
  const listed = client.listEventGroups({
    ...{ parent: credentials.name, 'filter.dataProviders': providers, signal },
  });
  for await (const group of listed) {
    found.set(`${group.dataProvider}/eventGroups/${group.name!.split('/').at(-1)}`, group);
  }
  const missing = named.find(({ name }) => !found.has(name));
  if (missing === undefined) return found;
  throw new PlanError(
    `${missing.at} is ${missing.name}, which does not exist or is not for you: mex event-groups list shows yours.`,
  );
}

/** Returns the population for the definition's model line. Without a model line, returns the default population. */
async function populationOf(
  { client, signal }: Dependencies,
  { modelLine }: ReportDefinition,
): Promise<Population | undefined> {
  for await (const population of client.listPopulations({ signal })) {
    const isIts = modelLine === undefined ? population.default : population.modelLines?.includes(modelLine);
    if (isIts) return population;
  }
  return undefined;
}

export type UnionType = Extract<NeedType, 'REACH' | 'REACH_AND_FREQUENCY'>;
export interface Union {
  type: UnionType;
  dataProviders: readonly string[];
}

export const unionId = ({ type, dataProviders }: Union) => `${type} ${[...dataProviders].sort().join(' ')}`;

const AT_ONCE = 4;
const USUAL_DELTA = 1e-9;

/**
 * Asks the exchange which duchies would compute the figures of each union of data providers, without creating a
 * measurement. The type of a union is reach, or reach and frequency. Throws `PlanError` if the consumer does not accept
 * the protocol or the duchies, and `FilterRejected` if a filter is invalid.
 */
export async function whoComputes(
  deps: Dependencies,
  definition: ReportDefinition,
  world: World,
  unions: readonly Union[],
): Promise<Map<string, DuchyProtocol | undefined>> {
  const computed = await inBatches(unions, AT_ONCE, async (union) => {
    const request = requestFor([exampleOf(definition, union)]);
    const prepared = await prepareMeasurement(deps, request, [...world.eventGroups.values()]);
    return accepted(deps, union, await send(deps, prepared, true), prepared.read.spec);
  });
  return new Map(unions.map((union, i) => [unionId(union), computed[i]]));
}

function accepted(
  deps: Dependencies,
  { type, dataProviders }: Union,
  validated: Parameters<typeof acceptedProtocol>[1],
  spec: Parameters<typeof acceptedProtocol>[2],
): DuchyProtocol | undefined {
  try {
    return acceptedProtocol(deps, validated, spec);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw new PlanError(
      `The ${type} of ${dataProviders.join(', ')} would not be accepted: ${error.message} (${error.code})`,
    );
  }
}

/**
 * Returns an example of a measurement that the report needs, with the type and the data providers of the union. The
 * example covers the whole interval of the report, with all event groups and filters that the report uses for these
 * data providers.
 */
function exampleOf(
  definition: ReportDefinition,
  { type, dataProviders }: Union,
): Pick<PlannedNeed, 'need' | 'params'> {
  const { segments, figures, budget, interval, modelLine } = definition;
  const filters = new Map<string, string[]>();
  for (const { eventGroups, filter } of Object.values(segments)) {
    for (const eventGroup of eventGroups.filter((name) => dataProviders.includes(partyOf(name)))) {
      filters.set(eventGroup, [
        ...(filters.get(eventGroup) ?? []),
        ...(filter === undefined ? [] : [filter]),
      ]);
    }
  }
  const [period] = periodsOf(interval);
  const frequencies = figures.flatMap(({ maximumFrequency }) => maximumFrequency ?? []);
  return {
    need: {
      ...{ type, period: period!, group: {}, vidSamplingInterval: { start: 0, width: 1 } },
      cells: [...filters].map(([eventGroup, of]) => ({ eventGroup, filters: [...new Set(of)] })),
      ...(modelLine !== undefined && { modelLine }),
      ...(type === 'REACH_AND_FREQUENCY' && { maximumFrequency: Math.max(...frequencies, 10) }),
    },
    params: { epsilon: 1, delta: budget.delta || USUAL_DELTA },
  };
}
