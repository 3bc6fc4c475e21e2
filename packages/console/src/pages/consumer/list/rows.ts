/** A row in a list of measurements. It has only a few fields, because a list may have 100,000 rows. */
import type { Measurement, MeasurementType } from '@measurement-exchange/contract';

export interface Row {
  name: string;
  state: Measurement['state'];
  failure: Measurement['failure'];
  type: MeasurementType | undefined;
  publishers: string[];
  isComputed: boolean;
  reference: string | undefined;
  createTime: string;
  updateTime: string;
  isRemoved: boolean;
}

export function rowOf(m: Measurement): Row {
  const { measurementType: type, direct, ...computed } = m.protocolConfig ?? {};
  return {
    name: m.name!,
    state: m.state,
    failure: m.failure,
    type,
    publishers: Object.keys(m.dataProviders ?? {}),
    isComputed: direct === undefined && Object.keys(computed).length > 0,
    reference: m.measurementReferenceId,
    createTime: m.createTime ?? '',
    updateTime: m.updateTime ?? '',
    isRemoved: m.deleteTime !== undefined,
  };
}

export interface Filter {
  states?: Measurement['state'][] | undefined;
  reference?: string | undefined;
}

export function matches({ state, reference }: Row, filter: Filter): boolean {
  return (
    (filter.states?.includes(state) ?? true) &&
    (filter.reference === undefined || reference === filter.reference)
  );
}

/**
 * Replaces rows with newer versions, and removes rows that no longer match the filter. Adds rows that match now, unless
 * they belong to a page that is not loaded yet.
 */
export function merged(
  rows: readonly Row[],
  changed: ReadonlyMap<string, Row>,
  filter: Filter,
  isComplete: boolean,
): Row[] {
  if (changed.size === 0) return [...rows];
  const known = new Set(rows.map(({ name }) => name));
  const oldest = rows.at(-1)?.createTime ?? '';
  const kept = rows.map((row) => newerOf(row, changed.get(row.name))).filter((row) => matches(row, filter));
  const added = [...changed.values()].filter(
    (row) => !known.has(row.name) && matches(row, filter) && (isComplete || row.createTime >= oldest),
  );
  if (added.length === 0) return kept;
  return [...kept, ...added].sort((a, b) =>
    a.createTime < b.createTime ? 1 : a.createTime > b.createTime ? -1 : 0,
  );
}

function newerOf(row: Row, changed: Row | undefined): Row {
  return changed !== undefined && changed.updateTime >= row.updateTime ? changed : row;
}

export function lastUpdate(rows: Iterable<Row>): string {
  let last = '';
  for (const { updateTime } of rows) if (updateTime > last) last = updateTime;
  return last;
}
