import type { Transaction } from '../../database/db.ts';
import { shareMeasurements } from '../../database/reports.ts';
import { measurementName } from '../../domain/aggregate.ts';
import { notFound } from '../../domain/found.ts';
import type { Entry, NewEntry } from '../../domain/reportEntries.ts';

/**
 * Adds the measurement's state to each entry of a report. Locks the measurements, so that the states stay the same
 * until the transaction ends.
 */
export async function withStates(tx: Transaction, consumer: string, entries: NewEntry[]): Promise<Entry[]> {
  if (entries.length === 0) return [];
  const ids = entries.map(({ measurement }) => measurement);
  const found = await shareMeasurements(tx, consumer, ids);
  return entries.map((entry) => {
    const { measurement: id } = entry;
    const measurement = found.get(id);
    if (measurement !== undefined) return { ...entry, state: measurement.state };
    throw notFound('MEASUREMENT_NOT_FOUND', measurementName({ consumer, id }), 'FAILED_PRECONDITION');
  });
}
