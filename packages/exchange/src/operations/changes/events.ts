/** The events that `watchChanges` returns. */
import type { Change } from '@measurement-exchange/contract';

export interface ChangeEvent {
  token: string;
  change: Change;
}

export interface Found {
  /** Empty if no change matches the filter. */
  events: ChangeEvent[];
  /** A token that resumes the watch after all changes that were read. */
  token: string;
}

/**
 * A subscription to a party's changes. Waiting for changes occupies no request slot. After the first page, the watch
 * queries the database only if the watch is far behind the newest change.
 */
export interface Watch {
  /** A token for the start position. Undefined if the first events are already available. */
  token: string | undefined;
  /**
   * Waits for events. Returns undefined when the watch is closed or the exchange stops. Throws if the next changes have
   * been removed from the log.
   */
  next(): Promise<Found | undefined>;
  close(): void;
}
