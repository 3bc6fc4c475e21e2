import type { Duchy } from '../computations/context.ts';
import { NotReady, PermanentError } from '../computations/errors.ts';
import { type StoredComputation, type StoredUpload, uploadsOf } from '../database/index.ts';

/**
 * Returns the uploads to this worker, one for each of its requisitions. Throws if an upload is missing or has the wrong
 * size.
 */
export async function ownUploads(
  { db, name }: Pick<Duchy, 'db' | 'name'>,
  { id, view, registerCount }: StoredComputation,
): Promise<StoredUpload[]> {
  const uploads = await uploadsOf(db, id);
  const expected = view.requisitions.filter((r) => r.fulfillingDuchy === name);
  const missing = expected.find((requisition) => !uploads.some((u) => u.requisition === requisition.name));
  // FULFILLED means that this duchy has stored and reported the missing upload, so this process is connected to the
  // wrong database. The stage waits, because such a process must not fail computations.
  if (missing?.state === 'FULFILLED') {
    throw new NotReady('DATABASE_DIFFERS', { requisition: missing.name });
  }
  // Wait for the missing upload. The other worker's message may have started this stage too early.
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
