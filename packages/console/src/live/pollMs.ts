import type { ComputationState, MeasurementState } from '@measurement-exchange/contract';
import { isTerminal } from '@measurement-exchange/contract';

const COMPUTING_MS = 2000;
const WAITING_MS = 10_000;

/**
 * Returns the interval at which a page reads the reason why a measurement or a computation waits. Returns false if the
 * state is final or unknown. The change feed contains neither the duchies' reports nor the times when parties were last
 * seen, so the page must poll.
 */
export function pollMs(state: MeasurementState | ComputationState | undefined): number | false {
  if (state === undefined || isTerminal(state as MeasurementState)) return false;
  return state === 'COMPUTING' ? COMPUTING_MS : WAITING_MS;
}
