/** What some planted bugs do beyond a line at their seam. Nothing here runs unless one of them is planted. */

import type { Transaction } from '../database/db.ts';
import { getRequisition } from '../database/requisitions.ts';
import { requireEtag } from '../domain/measurement.ts';
import type { Exchange } from './context.ts';

/** etag-outside-transaction: what was read here may change before the measurement is locked. */
export async function checkEtagBeforehand(
  x: Exchange,
  provider: string,
  requisition: string,
  etag: string,
): Promise<void> {
  const found = await getRequisition(x.db, provider, requisition);
  if (found !== undefined) requireEtag(found.requisition, etag);
}

const SECOND = {
  name: 'planted_second_requisition',
  text: `INSERT INTO requisitions
         SELECT (jsonb_populate_record(r, jsonb_build_object('id', $2::text, 'ordinal', m.requisition_count))).*
           FROM requisitions r JOIN measurements m ON m.id = r.measurement
          WHERE m.id = $1 AND r.ordinal = 0 AND r.state = 'UNFULFILLED'`,
};

/** second-requisition-on-retry: the provider of the first requisition gets another one. */
export async function addSecondRequisition(x: Exchange, tx: Transaction, measurement: string): Promise<void> {
  await tx.query(SECOND, [measurement, x.newId()]);
}

const SECOND_MS = 1_000;
const kept = new Map<string, { value: unknown; until: number }>();

/** read-cache: what was read within the last second is not read again. */
export async function keptForASecond<T>(key: string, read: () => Promise<T>): Promise<T> {
  const found = kept.get(key);
  if (found !== undefined && found.until > Date.now()) return found.value as T;
  const value = await read();
  kept.set(key, { value, until: Date.now() + SECOND_MS });
  return value;
}
