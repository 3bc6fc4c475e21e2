/** Implements the Populations service: gets, lists, and creates populations. */
import { create } from '@bufbuild/protobuf';
import { type Any, anyPack, type Struct, StructSchema } from '@bufbuild/protobuf/wkt';
import type { ServiceImpl } from '@connectrpc/connect';
import {
  ExchangeError,
  invalid,
  type NativeObject,
  type Population as PopulationResource,
  readMessage,
  type Subpopulation,
  type VidRange,
} from '@measurement-exchange/contract';
import {
  ListPopulationsResponseSchema,
  type Population,
  PopulationSchema,
  type PopulationSpec,
  type Populations,
} from '@measurement-exchange/contract/rpc';
import { type Api, idsIn } from './api.ts';
import { unsupported } from './unsupported.ts';
import { given, toTimestamp } from './values.ts';
import { rangesOutside } from './vidRanges.ts';

const SPEC = 'population.populationSpec';
const STRUCT = 'type.googleapis.com/google.protobuf.Struct';

export function populations(api: Api): Partial<ServiceImpl<typeof Populations>> {
  return {
    getPopulation: api.unary(async ({ name }, call) =>
      toPopulation(await call.run('getPopulation', idsIn('population', name))),
    ),

    listPopulations: api.unary(async ({ parent, pageSize, pageToken }, call) => {
      // The list is the same for every parent, because populations belong to the exchange.
      if (parent !== '') idsIn('dataProvider', parent, 'parent');
      return call.runPage(
        'listPopulations',
        {},
        { query: { pageSize, pageToken: given(pageToken) } },
        (page) =>
          create(ListPopulationsResponseSchema, {
            populations: page.populations.map(toPopulation),
            nextPageToken: page.nextPageToken ?? '',
          }),
        (page) => page.populations,
      );
    }),

    createPopulation: api.unary(async (message, call) => {
      const { population } = message;
      unsupported('', message, ['parent'], 'must be empty: populations belong to the exchange');
      unsupported('', message, ['requestId']);
      unsupported('population', population, ['eventTemplate']);
      const { case: form, value: spec } = population?.populationSpecRef ?? {};
      if (form === 'populationBlob') unsupported('population', { populationBlob: spec }, ['populationBlob']);
      const { ranges, body } = fromSpec(form === 'populationSpec' ? spec : undefined);
      const request = {
        body: { displayName: given(population?.description), ...body },
        within: 'population',
      };
      try {
        return toPopulation(await call.run('createPopulation', {}, request));
      } catch (error) {
        throw error instanceof ExchangeError && error.violations.length > 0 ? inSpec(error, ranges) : error;
      }
    }),
  };
}

/** Translates a population spec. The result's `ranges` contains the paths of all VID ranges in the spec, in order. */
function fromSpec(spec: PopulationSpec | undefined): { ranges: string[]; body: NativeObject } {
  const subpopulations = spec?.subpopulations ?? [];
  const ranges = subpopulations.flatMap(({ vidRanges }, i) =>
    vidRanges.map((_, j) => `${SPEC}.subpopulations[${i}].vidRanges[${j}]`),
  );
  const parts = subpopulations.map(({ attributes, vidRanges }, i) => ({
    attributes: attributes.flatMap((any, j) =>
      fromAttributes(any, `${SPEC}.subpopulations[${i}].attributes[${j}]`),
    ),
    vidRanges: vidRanges.map(({ startVid, endVidInclusive }) => ({
      start: Number(startVid),
      end: Number(endVidInclusive),
    })),
  }));
  const described = parts.filter(({ attributes }) => attributes.length > 0);
  return {
    ranges,
    body: { vidRanges: parts.flatMap(({ vidRanges }) => vidRanges), subpopulations: described },
  };
}

/**
 * Converts an attribute message to names and values, which filters use. The exchange does not store the message itself.
 */
function fromAttributes(any: Any, field: string): { name: string; value: string }[] {
  const reject = (member: string, description: string) =>
    invalid([{ field: `${field}.${member}`, description }]);
  if (any.typeUrl !== STRUCT) throw reject('typeUrl', `must be ${STRUCT}`);
  return Object.entries(structIn(any, reject).fields).map(([name, { kind }]) => {
    if (kind.case === 'stringValue') return { name, value: kind.value };
    throw reject('value', `${name} must be a string`);
  });
}

function structIn({ value }: Any, reject: (member: string, description: string) => Error): Struct {
  try {
    return readMessage(StructSchema, value);
  } catch (error) {
    throw reject('value', (error as Error).message);
  }
}

/** Converts the field paths of the operation's error to paths in the request's population spec. */
function inSpec(error: ExchangeError, ranges: string[]): ExchangeError {
  const violations = error.violations.map(({ field, description }) => {
    const index = /^population\.vidRanges\[(\d+)\]/.exec(field)?.[1];
    const inPopulation = field.startsWith('population.vidRanges') || field.includes('.subpopulations');
    if (index !== undefined) return { field: ranges[Number(index)]!, description };
    return { field: inPopulation ? `${SPEC}.subpopulations` : field, description };
  });
  return invalid(violations);
}

function toPopulation(population: PopulationResource): Population {
  const { name, displayName, createTime, vidRanges, subpopulations = [] } = population;
  const inNone = rangesOutside(
    vidRanges,
    subpopulations.flatMap((part) => part.vidRanges),
  );
  return create(PopulationSchema, {
    name,
    description: displayName,
    createTime: toTimestamp(createTime),
    populationSpecRef: {
      case: 'populationSpec',
      value: {
        subpopulations: [
          ...subpopulations.map((part) => ({
            attributes: [toAttributes(part)],
            vidRanges: part.vidRanges.map(toRange),
          })),
          ...(inNone.length > 0 ? [{ vidRanges: inNone.map(toRange) }] : []),
        ],
      },
    },
  });
}

function toAttributes({ attributes }: Subpopulation): Any {
  const fields = attributes.map(
    ({ name, value }) => [name, { kind: { case: 'stringValue', value } }] as const,
  );
  return anyPack(StructSchema, create(StructSchema, { fields: Object.fromEntries(fields) }));
}

function toRange({ start, end }: VidRange) {
  return { startVid: BigInt(start), endVidInclusive: BigInt(end) };
}
