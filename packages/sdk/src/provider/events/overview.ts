/** Describes the events as a whole. The numbers have no noise, so only the provider's operator may see them. */
import type { AttributeType } from '../../filters/types.ts';
import type { ColumnRole, EventSource, VidRanges, Watch } from './source.ts';

export interface EventsOverview {
  /** The number of files. Absent if the events are in a table. */
  files?: number;
  rows: number;
  /** The first and the last UTC day, such as `2026-07-28`. Absent if there are no events. */
  firstDay?: string;
  lastDay?: string;
  /** Counts of people for each VID column. */
  vids: VidOverview[];
  /** The columns for the VIDs, the timestamp, the event group, the duration, and the count. */
  columns: ColumnOverview[];
  attributes: AttributeOverview[];
}

export interface VidOverview {
  column: string;
  /** The number of distinct VIDs. */
  people: number;
  /** The number of distinct VIDs outside of the given population. Absent if no population was given. */
  peopleOutside?: number;
}

export interface ColumnOverview {
  role: ColumnRole;
  name: string;
  /** The engine's name of the type, such as `BIGINT`. */
  type: string;
  nulls: number;
}

export interface AttributeOverview {
  name: string;
  type: AttributeType;
  nulls: number;
  distinct: number;
}

export interface OverviewOptions extends Watch {
  population?: VidRanges | undefined;
}

/** Computes the overview. Reads all events once, and then once more for each VID column. */
export async function overviewOf(
  source: EventSource,
  { population, ...watch }: OverviewOptions,
): Promise<EventsOverview> {
  const { nulls, attributes, ...figures } = await source.overview(watch);
  const vids: VidOverview[] = [];
  for (const { role, name } of source.columns) {
    if (role !== 'vid') continue;
    const { people, outside } = await source.countVids(name, population, watch);
    vids.push({ column: name, people, ...(population && { peopleOutside: outside }) });
  }
  return {
    ...figures,
    vids,
    columns: source.columns.map(({ role, name, type }, i) => ({ role, name, type, nulls: nulls[i]! })),
    attributes: attributes.map((each) => ({ ...each, type: source.attributes[each.name]! })),
  };
}
