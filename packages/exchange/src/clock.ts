import { type Timestamp, timestampOf } from '@measurement-exchange/contract';

/** The clock follows the system's clock if the two differ by more than this. */
const MAX_DIFFERENCE_MS = 100;

/**
 * Creates a clock with a resolution below a millisecond. Between small corrections of the system's clock, its time only
 * increases. After a jump, for example when the machine was suspended, it has the system's time again.
 */
export function createClock(): () => Timestamp {
  let origin = performance.timeOrigin;
  return () => {
    const passed = performance.now();
    const difference = Date.now() - (origin + passed);
    if (Math.abs(difference) > MAX_DIFFERENCE_MS) origin += difference;
    return timestampOf(origin + passed);
  };
}
