/** Defines and answers the requests to the process that evaluates filters. */
import type { KnownValues } from '../../filters/check.ts';
import { FilterError } from '../../filters/errors.ts';
import type { AttributeType, AttributeValue } from '../../filters/types.ts';
import type { DialectName } from './dialect.ts';
import { DIALECTS } from './dialects.ts';
import type { FilterFault } from './errors.ts';
import { compileFilter, type Filter } from './index.ts';

/** A filter and the types of the attributes that it may use. */
export interface FilterText {
  expression: string;
  attributes: Readonly<Record<string, AttributeType>>;
  /** The dialect for the part that runs in SQL. If it is absent, CEL evaluates the whole filter. */
  dialect?: DialectName | undefined;
  /** The known values of some attributes, the same for every event. These attributes become constants in the filter. */
  values?: KnownValues | undefined;
}

/**
 * A request without rows checks and splits the filter. A request with rows evaluates a part of the filter for each row.
 */
export interface Request extends FilterText {
  rows?: AttributeValue[][];
  part?: Part;
}

/** The part of the filter to evaluate: all of it, or only the `people` or the `rest` of a `CompiledFilter`. */
export type Part = 'whole' | 'people' | 'rest';

export interface Response {
  compiled?: CompiledFilter;
  matched?: boolean[];
  error?: FilterFault;
}

/** A checked filter as plain values, which can be sent between processes. */
export interface CompiledFilter extends Evaluated {
  /** The conditions that use only attributes of people. They are not part of `sql` or `rest`. */
  people: Evaluated | undefined;
  /**
   * The conditions that mix attributes of people and events. They are not part of `sql` or `rest`. To evaluate them,
   * compile the filter again for each group of people, with the group's attributes in `values`.
   */
  mixed: Evaluated | undefined;
  /** The conditions outside `people` and `mixed` that the query engine evaluates. CEL evaluates the others (`rest`). */
  sql: SqlTemplate | undefined;
  rest: Evaluated | undefined;
}

/** A part of a filter that CEL evaluates. */
export interface Evaluated {
  /** The attributes that the part depends on, in the order of the values in a row. */
  attributes: readonly string[];
  /** An upper bound on the number of steps in one evaluation. */
  cost: number;
}

/** SQL in which `{0}` is the placeholder for the first slot, `{1}` for the second, and so on. */
export interface SqlTemplate {
  text: string;
  slots: Slot[];
  cost: number;
}

/** An attribute, or a value to bind. A timestamp is in microseconds since 1970. */
export type Slot = { attribute: string } | { value: string | bigint | number | boolean; type: AttributeType };

export function respond({ rows, part, ...text }: Request): Response {
  try {
    const filter = compiled(text);
    if (rows === undefined) return { compiled: describe(filter) };
    const evaluated = filter[part ?? 'whole']!;
    return { matched: rows.map((row) => evaluated.matches(valuesOf(evaluated, row))) };
  } catch (error) {
    return { error: describeError(error) };
  }
}

type Split = { whole: Filter; sqlCost: number } & Omit<ReturnType<Filter['byAttributes']>, 'events'> &
  ReturnType<Filter['pushDown']>;

/** A small cache is enough: consecutive requests are mostly for the same filter, and few requisitions run at a time. */
const MAX_CACHED = 8;
const cache = new Map<string, Split>();

function compiled({ expression, attributes, dialect, values }: FilterText): Split {
  const constants =
    values && Object.entries(values).map(([name, value]) => [name, typeof value, String(value)]);
  const key = JSON.stringify([dialect, attributes, expression, constants]);
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const whole = compileFilter(expression, attributes, values);
  const { people, mixed, events } = whole.byAttributes();
  const parts = dialect && events ? events.pushDown(DIALECTS[dialect]) : { sql: undefined, rest: events };
  const split = { whole, people, mixed, ...parts, sqlCost: (events?.cost ?? 0) - (parts.rest?.cost ?? 0) };
  if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value!);
  cache.set(key, split);
  return split;
}

function describe({ whole, people, mixed, sql, rest, sqlCost }: Split): CompiledFilter {
  const evaluated = ({ attributes, cost }: Filter): Evaluated => ({ attributes, cost });
  return {
    ...evaluated(whole),
    people: people && evaluated(people),
    mixed: mixed && evaluated(mixed),
    sql: sql && templateOf(sql, sqlCost),
    rest: rest && evaluated(rest),
  };
}

function templateOf(sql: NonNullable<Split['sql']>, cost: number): SqlTemplate {
  const slots: Slot[] = [];
  const slot = (content: Slot) => `{${slots.push(content) - 1}}`;
  const text = sql({
    attribute: (attribute) => slot({ attribute }),
    bind: (value, type) => slot({ value, type }),
  });
  return { text, slots, cost };
}

function valuesOf({ attributes }: Filter, row: AttributeValue[]): Record<string, AttributeValue> {
  return Object.fromEntries(attributes.map((name, i) => [name, row[i]]));
}

/**
 * Converts every error to a FilterFault, which makes the provider refuse the requisition. A retry would fail again,
 * because the error depends only on the filter.
 */
function describeError(error: unknown): FilterFault {
  if (error instanceof FilterError) {
    const { code, message, position } = error;
    return { code, message, position };
  }
  const reason = error instanceof RangeError ? 'it nests too deep' : (error as Error).message;
  return { code: 'FILTER_LIMIT', message: `The filter cannot be evaluated: ${reason}`, position: undefined };
}
