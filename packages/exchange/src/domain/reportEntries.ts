/**
 * Validates the measurements of a report and derives the report's state from them. Measurements can be appended to a
 * report, but not changed.
 */
import {
  invalid,
  isTerminal,
  MAX_REPORT_MEASUREMENTS,
  type MeasurementState,
  parseName,
  type ReportMeasurement,
  type ReportState,
  type Violation,
} from '@measurement-exchange/contract';
import { partyOf } from './access.ts';
import { measurementName } from './aggregate.ts';

/** A measurement of a report. `measurement` is the ID of the measurement, without its consumer. */
export interface NewEntry {
  key: string;
  measurement: string;
}

export interface Entry extends NewEntry {
  /** Undefined if retention has removed the measurement. */
  state: MeasurementState | undefined;
}

/**
 * Returns the report's state and the measurement to wait for. The function chooses the last pending measurement, which
 * probably ends after all other measurements.
 */
export function progressOf(entries: Entry[]): { state: ReportState; waitingFor: string | undefined } {
  const waitingFor = entries.findLast(({ state }) => state !== undefined && !isTerminal(state))?.measurement;
  if (waitingFor !== undefined) return { state: 'RUNNING', waitingFor };
  if (entries.length === 0) return { state: 'PLANNED', waitingFor };
  const isComplete = entries.every(({ state }) => state === 'SUCCEEDED');
  return { state: isComplete ? 'COMPLETE' : 'INCOMPLETE', waitingFor };
}

/**
 * Finds problems in the measurements of a request, without comparing them with the stored measurements of the report.
 */
export function entryViolations(consumer: string, given: ReportMeasurement[]): Violation[] {
  const seen = new Set<string>();
  return given.flatMap(({ key, measurement }, i) => {
    const violations: Violation[] = [];
    const field = `measurements[${i}].key`;
    if (!/^[0-9a-f]{64}$/.test(key)) {
      violations.push({ field, description: 'must be 64 lower-case hexadecimal digits' });
    } else if (seen.has(key)) {
      violations.push({ field, description: 'is the key of another measurement too' });
    }
    seen.add(key);
    if (partyOf(measurement) !== consumer) {
      violations.push({ field: `measurements[${i}].measurement`, description: `must be under ${consumer}` });
    }
    return violations;
  });
}

/**
 * Returns the measurements that the report does not have yet. Rejects a different measurement for a key that the report
 * already has.
 */
export function newEntries(
  consumer: string,
  existing: NewEntry[],
  given: ReportMeasurement[] = [],
): NewEntry[] {
  const known = new Map(existing.map(({ key, measurement }) => [key, measurement]));
  const violations: Violation[] = [];
  const added = given.flatMap(({ key, measurement: name }, i) => {
    const { measurement } = parseName('measurement', name)!;
    const present = known.get(key);
    if (present === undefined) return [{ key, measurement }];
    if (present !== measurement) {
      const recorded = measurementName({ consumer, id: present });
      const description = `the report has ${recorded} under this key, which cannot be replaced: use another key`;
      violations.push({ field: `measurements[${i}].measurement`, description });
    }
    return [];
  });
  if (existing.length + added.length > MAX_REPORT_MEASUREMENTS) {
    const description = `the report would have more than ${MAX_REPORT_MEASUREMENTS} measurements`;
    violations.push({ field: 'measurements', description });
  }
  if (violations.length > 0) throw invalid(violations);
  return added;
}
