/** The events that `watchChanges` returns. */
import type { Change } from '@measurement-exchange/contract';

/** A change and a token. The token resumes the watch after this change. */
export interface ChangeEvent {
  token: string;
  change: Change;
}

/** A batch of events from a watch. */
export interface Found {
  /** Empty if no change matches the filter. */
  events: ChangeEvent[];
  /** A token that resumes the watch after all changes that were read. */
  token: string;
}

/**
 * A subscription to a party's changes. It occupies no request slot, and queries the database only if it has fallen far
 * behind the change log.
 */
export interface Watch {
  /** A token for the starting position; undefined if the first events are already available. */
  token: string | undefined;
  /** Waits for more events. Returns undefined when the watch is closed or the exchange stops. */
  next(): Promise<Found | undefined>;
  close(): void;
}
