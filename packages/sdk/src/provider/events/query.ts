import type { Watch } from './engine.ts';

/** Selects events and people. Each event counts once, also when several event groups select it. */
export interface EventQuery extends Watch {
  eventGroups: EventGroupSelection[];
  vidSampling: { start: number; width: number };
}

/** Selects the events of one event group in `[start, end)` that pass the filter. */
export interface EventGroupSelection {
  /** The event group's reference in the events. */
  reference: string;
  interval: { start: Date; end: Date };
  /** CEL over the attributes; events for which it is false or fails are left out. */
  filter?: string;
}
