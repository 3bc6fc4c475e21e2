import type { Watch } from './source.ts';

/** Selects events and people. An event selected by several event groups counts once. */
export interface EventQuery extends Watch {
  eventGroups: EventGroupSelection[];
  vidSampling: { start: number; width: number };
  /** The model line that assigned the VIDs. It selects the VID column, if the events have several (`vidColumns`). */
  modelLine?: string | undefined;
}

/** Selects the events of one event group in `[start, end)` that match the filter. */
export interface EventGroupSelection {
  /** The value to look for in the event group column. */
  reference: string;
  interval: { start: Date; end: Date };
  /** A CEL expression over the attributes. Events for which it is false or fails are not selected. */
  filter?: string;
}
