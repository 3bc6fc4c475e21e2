/** The events that a watch of changes returns. */
import type { Change } from '@measurement-exchange/contract';

/** A change, and the token with which a client continues behind it. */
export interface ChangeEvent {
  token: string;
  change: Change;
}

/** The next events of a watch. */
export interface Found {
  /** Empty if no change matches the filter. */
  events: ChangeEvent[];
  /** The token with which a client continues behind all changes that were read. */
  token: string;
}

/** A watch occupies no slot. It queries the database only if it is far behind; otherwise it shares the rows of the feed. */
export interface Watch {
  /** The token of the start; undefined if the first events are available already. */
  token: string | undefined;
  /** Waits for more events. Returns undefined when the watch is closed or the exchange stops. */
  next(): Promise<Found | undefined>;
  close(): void;
}
