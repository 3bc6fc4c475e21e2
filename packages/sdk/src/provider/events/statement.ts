/** Writes the SQL condition that selects the events of a query. */
import type { AttributeType } from '../../filters/types.ts';
import type { SqlTemplate } from '../filter/requests.ts';
import type { Matching, SourceQuery, SourceSelection, VidRanges } from './source.ts';

/** Writes the parts of a condition in an engine's SQL, and binds their values to the statement. */
export interface Writer {
  /** Binds a constant and returns its placeholder. A timestamp is in microseconds since 1970. */
  bind(value: string | bigint | number | boolean, type: AttributeType): string;
  attribute(name: string): string;
  /** SQL expression: the event's VID, a signed 64-bit integer or NULL. */
  readonly vid: string;
  /** Writes the condition that the event's reference is one of `references`. */
  references(references: string[]): string;
  within(interval: SourceSelection['interval']): string;
  /** Writes the condition that the event's values equal one of the rows in `matching`. */
  matched(matching: Matching): string;
  /** An SQL condition that is true if a row has events. Set only if the table has a count column. */
  readonly hasEvents?: string | undefined;
}

export function conditionOf({ selections }: Pick<SourceQuery, 'selections'>, writer: Writer): string {
  if (selections.length === 0) return 'false';
  // Write each filter once, even if several intervals use it, because the limits of a query count it once.
  const same = Map.groupBy(selections, ({ sql, matching, vids }) =>
    [idOf(sql), idOf(matching), idOf(vids)].join(' '),
  );
  const selected = `(${[...same.values()].map((group) => `(${groupCondition(group, writer)})`).join(' OR ')})`;
  return writer.hasEvents === undefined ? selected : `${selected} AND ${writer.hasEvents}`;
}

/** Identifies an object, so that selections can be grouped by the objects that they share. */
const ids = new WeakMap<object, number>();
let lastId = 0;
function idOf(object: object | undefined): number {
  if (object === undefined) return 0;
  const id = ids.get(object) ?? ++lastId;
  ids.set(object, id);
  return id;
}

/** Writes the condition of selections that differ only in their references and intervals. */
function groupCondition(group: readonly SourceSelection[], writer: Writer): string {
  const { vids, sql, matching } = group[0]!;
  const events = group.map(
    ({ references, interval }) => `${writer.references(references)} AND ${writer.within(interval)}`,
  );
  return [
    events.length === 1 ? events[0]! : `(${events.map((each) => `(${each})`).join(' OR ')})`,
    ...(vids ? [vidCondition(vids, writer.vid)] : []),
    ...(sql ? [written(sql, writer)] : []),
    ...(matching ? [writer.matched(matching)] : []),
  ].join(' AND ');
}

const [MIN_VID, MAX_VID] = [-(2n ** 63n), 2n ** 63n - 1n];

/** Writes the condition that a VID is in one of the ranges. Leaves out a bound that every 64-bit VID satisfies. */
export function vidCondition(ranges: VidRanges, vid: string): string {
  const conditions = ranges.map(({ start, end }) => {
    if (start === MIN_VID && end === MAX_VID) return `${vid} IS NOT NULL`;
    if (start === MIN_VID) return `${vid} <= ${end}`;
    return end === MAX_VID ? `${vid} >= ${start}` : `${vid} BETWEEN ${start} AND ${end}`;
  });
  return conditions.length === 0 ? 'false' : `(${conditions.join(' OR ')})`;
}

function written({ text, slots }: SqlTemplate, writer: Writer): string {
  return text.replace(/\{(\d+)\}/g, (_, i) => {
    const slot = slots[Number(i)]!;
    return 'attribute' in slot ? writer.attribute(slot.attribute) : writer.bind(slot.value, slot.type);
  });
}
