/** The provider's virtual population: disjoint ranges of VIDs with attributes. A CEL filter selects a part of it. */

import type { AttributeType, AttributeValue } from '../filters/types.ts';
import { checkAt } from '../refusals/refusalError.ts';
import { compile, match } from './filter/evaluator.ts';

/** A virtual person ID (VID) in JSON. A VID beyond 2^53 must be a decimal string, because a number would be rounded. */
export type Vid = number | string | bigint;

/** A population in JSON. Ranges include both ends and must not overlap. */
export interface PopulationSpec {
  subpopulations: {
    vidRanges: { start: Vid; end: Vid }[];
    attributes?: Record<string, string | number | bigint | boolean | null>;
  }[];
}

/** A population that can be counted. */
export interface Population {
  /** The attributes that filters may use. */
  readonly attributes: Readonly<Record<string, AttributeType>>;
  /** The VIDs. Ranges include both ends and do not overlap. */
  readonly ranges: readonly { start: bigint; end: bigint }[];
  /** Counts the VIDs of the subpopulations whose attributes match the filter, or all VIDs if there is no filter. */
  count(filter?: string, signal?: AbortSignal): Promise<bigint>;
}

/** Validates a population. Throws an Error that names the invalid field. */
export function openPopulation(spec: PopulationSpec): Population {
  const isPart = (part: unknown) => typeof part === 'object' && part !== null;
  if (!Array.isArray(spec?.subpopulations) || !spec.subpopulations.every(isPart)) {
    throw new Error('subpopulations must be a list of objects.');
  }
  const types = attributeTypes(spec);
  const parts = spec.subpopulations.map(({ vidRanges, attributes = {} }, i) => {
    const at = `subpopulations[${i}].vidRanges`;
    if (!Array.isArray(vidRanges)) throw new Error(`${at} must be a list.`);
    const ranges = vidRanges.map((range, j) => readRange(range, `${at}[${j}]`));
    const size = ranges.reduce((sum, { start, end }) => sum + end - start + 1n, 0n);
    return { ranges, size, values: valuesOf(attributes, types) };
  });
  requireDisjoint(parts.flatMap(({ ranges }) => ranges));

  async function matching(expression: string, signal: AbortSignal | undefined): Promise<boolean[]> {
    const filter = { expression, attributes: types };
    const { attributes, cost } = await compile(filter);
    const rows = parts.map(({ values }) => attributes.map((name) => values[name]));
    return match(filter, { part: 'whole', cost, rows }, signal);
  }

  return {
    attributes: types,
    ranges: parts.flatMap(({ ranges }) => ranges.map(({ start, end }) => ({ start, end }))),
    async count(filter, signal) {
      const matched = filter ? await checkAt('population.filter', () => matching(filter, signal)) : undefined;
      return parts.reduce((sum, { size }, i) => (matched?.[i] === false ? sum : sum + size), 0n);
    },
  };
}

interface Range {
  at: string;
  start: bigint;
  end: bigint;
}

function readRange(range: { start: Vid; end: Vid }, at: string): Range {
  const start = readVid(range?.start, `${at}.start`);
  const end = readVid(range?.end, `${at}.end`);
  if (end < start) throw new Error(`${at}.end must not be below its start.`);
  return { at, start, end };
}

function readVid(value: Vid, at: string): bigint {
  const exact =
    typeof value === 'bigint' ||
    (typeof value === 'number' && Number.isSafeInteger(value)) ||
    (typeof value === 'string' && /^-?\d{1,19}$/.test(value));
  const vid = exact ? BigInt(value) : undefined;
  if (vid !== undefined && BigInt.asIntN(64, vid) === vid) return vid;
  throw new Error(`${at} must be a whole number of 64 bits; write it as a string beyond 2^53.`);
}

function requireDisjoint(ranges: Range[]): void {
  const sorted = ranges.toSorted((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
  for (const [i, range] of sorted.entries()) {
    const before = sorted[i - 1];
    if (before !== undefined && before.end >= range.start) {
      throw new Error(`${before.at} and ${range.at} overlap: a VID must be in one range only.`);
    }
  }
}

/**
 * Returns the type of each attribute across all subpopulations. An attribute with both integers and fractions is a double.
 */
function attributeTypes(spec: PopulationSpec): Record<string, AttributeType> {
  const types: Record<string, AttributeType> = Object.create(null);
  for (const { attributes = {} } of spec.subpopulations) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null) continue;
      const type = typeOf(value);
      if (type === undefined) {
        throw new Error(`The attribute ${name} must be text, a number, true or false, or null.`);
      }
      const known = types[name] ?? type;
      const numbers = new Set<AttributeType>(['int', 'double']);
      if (known !== type && !(numbers.has(known) && numbers.has(type))) {
        throw new Error(`The attribute ${name} must have one type, and is ${known} and ${type}.`);
      }
      types[name] = known === type ? type : 'double';
    }
  }
  return types;
}

function typeOf(value: unknown): AttributeType | undefined {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'int' : 'double';
  return typeof value === 'bigint' && BigInt.asIntN(64, value) === value ? 'int' : undefined;
}

function valuesOf(
  attributes: NonNullable<PopulationSpec['subpopulations'][number]['attributes']>,
  types: Record<string, AttributeType>,
): Record<string, AttributeValue> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => {
      if (value === null) return [name, null];
      if (types[name] === 'int') return [name, BigInt(value as number | bigint)];
      return [name, types[name] === 'double' ? Number(value) : value];
    }),
  );
}
