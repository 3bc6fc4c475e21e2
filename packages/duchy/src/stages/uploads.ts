import type { Duchy } from '../computations/context.ts';
import { NotReady, PermanentError } from '../computations/errors.ts';
import { type StoredComputation, type StoredUpload, uploadsOf } from '../database/index.ts';

/** The uploads to this worker: one for each of its requisitions, each with the length of the computation. */
export async function ownUploads(
  { db, name }: Pick<Duchy, 'db' | 'name'>,
  { id, view, registerCount }: StoredComputation,
): Promise<StoredUpload[]> {
  const uploads = await uploadsOf(db, id);
  const expected = view.requisitions.filter((r) => r.fulfillingDuchy === name);
  const missing = expected.find((requisition) => !uploads.some((u) => u.requisition === requisition.name));
  // Only this duchy reports that a requisition is fulfilled, and only after it stored the upload: this is the wrong database.
  // It waits, because it must not fail a computation of the right one.
  if (missing?.state === 'FULFILLED') {
    throw new NotReady('DATABASE_DIFFERS', { requisition: missing.name });
  }
  // The other worker may begin before the last upload if it does not wait for the exchange.
  if (missing !== undefined) throw new NotReady('WAITS_FOR_UPLOAD', { requisition: missing.name });
  if (uploads.length !== expected.length) {
    throw new PermanentError('REQUISITIONS_INVALID', { duchy: name });
  }
  const other = uploads.find((upload) => upload.registerCount !== registerCount);
  if (other !== undefined) {
    throw new PermanentError('UPLOAD_INVALID', { field: 'registerCount', requisition: other.requisition });
  }
  return uploads;
}
