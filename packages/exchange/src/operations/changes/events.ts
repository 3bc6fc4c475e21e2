/** The events that watching for changes returns. */
import type { Change } from '@measurement-exchange/contract';

/** A change, and the token for continuing after it. */
export interface ChangeEvent {
  token: string;
  change: Change;
}

/** A batch of events from a watch. */
export interface Found {
  /** Empty if no change matches the filter. */
  events: ChangeEvent[];
  /** The token for continuing after all changes that were read. */
  token: string;
}

/** A watch occupies no request slot. It reads the feed's shared rows, and queries the database only if it is far behind. */
export interface Watch {
  /** The token for the starting position; undefined if the first events are already available. */
  token: string | undefined;
  /** Waits for more events. Returns undefined when the watch is closed or the exchange stops. */
  next(): Promise<Found | undefined>;
  close(): void;
}
