/** Finds the column for each role, such as the VID, the time, or the event group reference, in a store of events. */
import type { AttributeType } from '../../filters/types.ts';
import type { ColumnRole, SourceColumn } from './source.ts';

/** The column names in the events, if they differ from the defaults. */
export interface ColumnNames {
  /** The column with the virtual person ID, an integer. Default: `vid`. */
  vid?: string;
  /** The column with the time of the event. A time without a zone is UTC. Default: `timestamp`. */
  timestamp?: string;
  /** The unit of an integer `timestamp` column, which counts time since 1970. */
  timestampUnit?: 's' | 'ms' | 'us' | 'ns';
  /** The column with the event group's reference (`eventGroupReferenceId` in the exchange). Default: `event_group`. */
  eventGroup?: string;
  /** The column with the seconds watched, as a number or an INTERVAL. Default: `duration`, if that column exists. */
  duration?: string;
  /**
   * The column with the number of events that each row represents, for example in a table of daily counts. A row
   * without a positive count has no events. Default: each row is one event.
   */
  count?: string;
  /**
   * The columns that filters can use, optionally with their types. Default: every other column of a supported type. In
   * CSV files, a type that is not given is guessed.
   */
  attributes?: string[] | Record<string, AttributeType | undefined>;
}

/** The names of all columns with a role. `vids` lists the VID columns if each model line has its own VID column. */
export interface RoleNames extends ColumnNames {
  vids?: readonly string[] | undefined;
}

export const DEFAULT_COLUMNS = {
  vid: 'vid',
  timestamp: 'timestamp',
  eventGroup: 'event_group',
  duration: 'duration',
} as const;

/** A column of an event store. `type` is the name that this kind of store has for the column's type. */
interface Named {
  name: string;
  type: unknown;
}

export interface Roles<C extends Named> {
  vids: C[];
  timestamp: C;
  eventGroup: C;
  duration: C | undefined;
  count: C | undefined;
  /** The columns that can be attributes. */
  candidates: C[];
  /** The configured attributes with their configured types. Undefined if the settings do not list the attributes. */
  asked: Map<string, AttributeType | undefined> | undefined;
}

export const vidNames = ({ vids, vid }: RoleNames) => vids ?? [vid ?? DEFAULT_COLUMNS.vid];

/**
 * Finds the column for each role. If a column is missing, throws an Error that names the setting and lists all
 * columns.
 */
export function rolesOf<C extends Named>(names: RoleNames, columns: readonly C[]): Roles<C> {
  const find = (setting: string, name: string): C => {
    const found = columns.find((column) => column.name === name);
    if (found !== undefined) return found;
    const known = columns.map((column) => `${quoted(column.name)} (${column.type})`).join(', ');
    throw new Error(
      `${setting}: the events have no column ${quoted(name)}. They have ${known}. Name the right one in the settings.`,
    );
  };
  const vidSetting = names.vids === undefined ? 'columns.vid' : 'vidColumns';
  const vids = vidNames(names).map((name) => find(vidSetting, name));
  const timestamp = find('columns.timestamp', names.timestamp ?? DEFAULT_COLUMNS.timestamp);
  const eventGroup = find('columns.eventGroup', names.eventGroup ?? DEFAULT_COLUMNS.eventGroup);
  const duration =
    names.duration !== undefined
      ? find('columns.duration', names.duration)
      : columns.find((column) => column.name === DEFAULT_COLUMNS.duration);
  const count = names.count === undefined ? undefined : find('columns.count', names.count);
  const taken = new Set([...vids, timestamp, eventGroup, duration, count]);
  const asked = names.attributes && new Map(configuredAttributes(names.attributes));
  const candidates = asked
    ? [...asked.keys()].map((name) => find('columns.attributes', name))
    : columns.filter((column) => !taken.has(column));
  return { vids, timestamp, eventGroup, duration, count, candidates, asked };
}

/** Lists the columns with a role, in the order of `EventSource.columns`. */
export function sourceColumns<C extends Named>(
  { vids, timestamp, eventGroup, duration, count }: Roles<C>,
  isNullable: (column: C) => boolean,
): SourceColumn[] {
  const listed = (role: ColumnRole, columns: (C | undefined)[]) =>
    columns
      .filter((column) => column !== undefined)
      .map((column) => ({
        role,
        name: column.name,
        type: String(column.type),
        nullable: isNullable(column),
      }));
  return [
    ...listed('vid', vids),
    ...listed('timestamp', [timestamp]),
    ...listed('eventGroup', [eventGroup]),
    ...listed('duration', [duration]),
    ...listed('count', [count]),
  ];
}

/** Returns the type of each attribute. The object has no prototype, because an attribute can have any name. */
export function attributeTypes(
  attributes: ReadonlyMap<string, { type: AttributeType }>,
): Readonly<Record<string, AttributeType>> {
  const types: Record<string, AttributeType> = Object.create(null);
  for (const [name, { type }] of attributes) types[name] = type;
  return types;
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Returns the configured attributes, each with its configured type if there is one. */
export function configuredAttributes(
  attributes: NonNullable<ColumnNames['attributes']>,
): [name: string, type: AttributeType | undefined][] {
  return Array.isArray(attributes) ? attributes.map((name) => [name, undefined]) : Object.entries(attributes);
}

/** Returns the error for a column whose type does not match its role. */
export function mismatch(role: keyof ColumnNames, { name, type }: Named, wanted: string): Error {
  return new Error(
    `columns.${role}: ${quoted(name)} is ${type}, and must be ${wanted}: write it so, or name another column.`,
  );
}

/** Returns the error for an integer timestamp column without a unit. */
export function unitMissing({ name, type }: Named): Error {
  return new Error(
    `columns.timestampUnit: ${quoted(name)} is ${type}: set the unit it counts: s, ms, us or ns.`,
  );
}

const DAY_MS = 86_400_000n;
export const TICKS_PER_DAY = { s: 86_400n, ms: DAY_MS, us: 1000n * DAY_MS, ns: 1_000_000n * DAY_MS };

/**
 * Returns a time as a number of ticks since 1970, rounded up. An integer column has only whole ticks, so rounding up
 * does not change the result of a comparison with >= or <.
 */
export function ticksAt(time: Date, unit: keyof typeof TICKS_PER_DAY): bigint {
  const product = BigInt(time.getTime()) * TICKS_PER_DAY[unit];
  return product / DAY_MS + (product > 0n && product % DAY_MS !== 0n ? 1n : 0n);
}

/**
 * The maximum number of events that one row can represent. A higher number is reduced to this maximum, which changes no
 * result, because no query counts more events per person.
 */
export const MAX_ROW_COUNT = 2 ** 31 - 1;
