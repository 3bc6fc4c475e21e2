/**
 * Functions for planted code that needs more than one line. They are loaded only if a bug that uses them is planted.
 */

import type { Queryable } from '@measurement-exchange/exchange/internal/database/db';
import { getRequisition } from '@measurement-exchange/exchange/internal/database/requisitions';
import { partyName } from '@measurement-exchange/exchange/internal/domain/access';
import { etagOf } from '@measurement-exchange/exchange/internal/domain/measurement';

const CACHE_MS = 1_000;
const cache = new Map<string, { value: unknown; until: number }>();

/** Caches a value for one second. */
export async function cached<T>(key: string, read: () => Promise<T>): Promise<T> {
  const found = cache.get(key);
  if (found !== undefined && found.until > Date.now()) return found.value as T;
  const value = await read();
  cache.set(key, { value, until: Date.now() + CACHE_MS });
  return value;
}

/** Compares the etag before the transaction begins. The requisition may change before the measurement is locked. */
export async function checkEtagBefore(
  db: Queryable,
  { params, body }: { params: { dataProvider: string; requisition: string }; body: { etag: string } },
): Promise<void> {
  const found = await getRequisition(db, partyName('dataProvider', params.dataProvider), params.requisition);
  if (found === undefined || etagOf(found.requisition) === body.etag) return;
  const { ExchangeError } = await import('@measurement-exchange/contract');
  throw new ExchangeError('REQUISITION_ETAG_MISMATCH', 'The requisition changed since it was read.');
}

const SECOND_REQUISITION = {
  name: 'planted_second_requisition',
  text: `INSERT INTO requisitions
         SELECT (jsonb_populate_record(r, jsonb_build_object('id', $2::text, 'ordinal', m.requisition_count))).*
           FROM requisitions r JOIN measurements m ON m.id = r.measurement
          WHERE m.id = $1 AND r.ordinal = 0 AND r.state = 'UNFULFILLED'`,
};

/** Adds a second requisition for the provider of the first requisition. */
export async function addSecondRequisition(tx: Queryable, measurement: string, newId: string): Promise<void> {
  await tx.query(SECOND_REQUISITION, [measurement, newId]);
}
