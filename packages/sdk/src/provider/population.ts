/** The provider's virtual population: disjoint ranges of VIDs with attributes. A CEL filter selects a part of it. */
import { createHash } from 'node:crypto';
import type { Interval } from '@measurement-exchange/mpc/charges';
import type { AttributeType, AttributeValue } from '../filters/types.ts';
import { checkAt } from '../refusals/refusalError.ts';
import { compile, match } from './filter/evaluator.ts';

/**
 * A virtual person ID (VID). A VID beyond 2^53 must be a decimal string or a bigint, because a number would be rounded.
 * JSON has no bigint, so such a VID in JSON must be a decimal string.
 */
export type Vid = number | string | bigint;

type Attributes = Record<string, string | number | bigint | boolean | null>;

/** A population in JSON. Ranges include both ends and must not overlap. The exchange uses the same form. */
export interface PopulationSpec {
  subpopulations: {
    vidRanges: { start: Vid; end: Vid }[];
    attributes?: Attributes | { name: string; value: string }[];
  }[];
  /**
   * The model lines that assigned the VIDs. Needed only if the events have several VID columns (`vidColumns`) and
   * filters use attributes of the population.
   */
  modelLines?: string[];
}

/** People with the same attributes. */
export interface Subpopulation {
  /** Disjoint ranges of VIDs. Both ends are included. */
  readonly ranges: readonly Interval[];
  readonly values: Readonly<Record<string, AttributeValue>>;
}

/** A validated population, whose VIDs can be counted. */
export interface Population {
  /** The attributes that filters may use. */
  readonly attributes: Readonly<Record<string, AttributeType>>;
  /** The VIDs. Ranges include both ends and do not overlap. */
  readonly ranges: readonly Interval[];
  readonly subpopulations: readonly Subpopulation[];
  readonly modelLines: readonly string[];
  /** Identifies the VIDs and their attributes. If a VID or an attribute changes, the fingerprint changes. */
  readonly fingerprint: string;
  /** Counts the VIDs of the subpopulations whose attributes match the filter, or all VIDs if there is no filter. */
  count(filter?: string, signal?: AbortSignal): Promise<bigint>;
}

/** Validates a population. Throws an Error that names the invalid field. */
export function openPopulation(spec: PopulationSpec): Population {
  const isPart = (part: unknown) => typeof part === 'object' && part !== null;
  if (!Array.isArray(spec?.subpopulations) || !spec.subpopulations.every(isPart)) {
    throw new Error('subpopulations must be a list of objects.');
  }
  const { modelLines = [] } = spec;
  if (!Array.isArray(modelLines) || !modelLines.every((line) => typeof line === 'string')) {
    throw new Error('modelLines must be a list of texts.');
  }
  const attributes = spec.subpopulations.map(readAttributes);
  const types = attributeTypes(attributes);
  const read = spec.subpopulations.map(({ vidRanges }, i) => {
    const at = `subpopulations[${i}].vidRanges`;
    if (!Array.isArray(vidRanges)) throw new Error(`${at} must be a list.`);
    return vidRanges.map((range, j) => readRange(range, `${at}[${j}]`));
  });
  requireDisjoint(read.flat());
  const parts = read.map((ranges, i) => ({
    ranges: ranges.map(({ start, end }) => ({ start, end })),
    size: ranges.reduce((sum, { start, end }) => sum + end - start + 1n, 0n),
    values: valuesOf(attributes[i]!, types),
  }));

  async function matching(expression: string, signal: AbortSignal | undefined): Promise<boolean[]> {
    const filter = { expression, attributes: types };
    const { attributes, cost } = await compile(filter);
    const rows = parts.map(({ values }) => attributes.map((name) => values[name]));
    return match(filter, { part: 'whole', cost, rows }, signal);
  }

  return {
    attributes: types,
    ranges: parts.flatMap(({ ranges }) => ranges),
    subpopulations: parts,
    modelLines,
    fingerprint: fingerprintOf(parts),
    async count(filter, signal) {
      const matched = filter ? await checkAt('population.filter', () => matching(filter, signal)) : undefined;
      return parts.reduce((sum, { size }, i) => (matched?.[i] === false ? sum : sum + size), 0n);
    },
  };
}

/** Returns the fingerprint, which does not depend on the order of subpopulations, ranges, and attributes. */
function fingerprintOf(parts: readonly Subpopulation[]): string {
  const texts = parts.map(({ ranges, values }) =>
    JSON.stringify([
      ranges.map(({ start, end }) => `${start} ${end}`).sort(),
      Object.entries(values)
        .map(([name, value]) => [name, typeof value, String(value)])
        .sort(),
    ]),
  );
  return createHash('sha256').update(texts.sort().join('\n')).digest('hex');
}

interface Range extends Interval {
  at: string;
}

/** Returns the attributes as an object. In a population from the exchange, they are a list of names and values. */
function readAttributes(
  { attributes = {} }: PopulationSpec['subpopulations'][number],
  i: number,
): Attributes {
  if (!Array.isArray(attributes)) return attributes;
  const names = attributes.map((attribute) => attribute?.name);
  const isUnique = names.every((name, j) => typeof name === 'string' && names.indexOf(name) === j);
  if (isUnique) return Object.fromEntries(attributes.map(({ name, value }) => [name, value]));
  throw new Error(`subpopulations[${i}].attributes must have a name each, and no name twice.`);
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
 * Returns the type of each attribute across all subpopulations. An attribute with both integers and fractions is a
 * double.
 */
function attributeTypes(all: readonly Attributes[]): Record<string, AttributeType> {
  const types: Record<string, AttributeType> = Object.create(null);
  for (const attributes of all) {
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
  attributes: Attributes,
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
