import type { Watch } from './source.ts';

/** Selects events and people. An event selected by several event groups counts once. */
export interface EventQuery extends Watch {
  eventGroups: EventGroupSelection[];
  vidSampling: { start: number; width: number };
  /**
   * The model line that assigned the VIDs. If the events have several VID columns, the model line determines which
   * column is used (see `vidColumns`).
   */
  modelLine?: string | undefined;
}

/** Selects the events of one event group that are in the interval and match the filter. */
export interface EventGroupSelection {
  /** The value to look for in the event group column. */
  reference: string;
  /** Includes `start`, but not `end`. */
  interval: { start: Date; end: Date };
  /**
   * A CEL expression over the attributes. If the expression is false or fails for an event, the event is not selected.
   */
  filter?: string;
}
