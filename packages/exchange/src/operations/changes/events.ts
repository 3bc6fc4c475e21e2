/** The events that a watch of changes returns. */
import type { Change } from '@measurement-exchange/contract';

/** A change, and the token that continues behind it. */
export interface ChangeEvent {
  token: string;
  change: Change;
}

/** The next events of a watch. */
export interface Found {
  /** Empty where the filter leaves nothing. */
  events: ChangeEvent[];
  /** Continues behind everything that was read. */
  token: string;
}

/** A watch holds no slot. It queries the database by itself only where it is far behind. */
export interface Watch {
  /** Where it begins; undefined where the first events are there already. */
  token: string | undefined;
  /** Waits for more; undefined when it is closed, or the exchange stops. */
  next(): Promise<Found | undefined>;
  close(): void;
}
