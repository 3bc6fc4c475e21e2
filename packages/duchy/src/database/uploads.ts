/** The table of data providers' uploads to this duchy. */
import { completeBlob } from './blobs.ts';
import { camelCase, type Queryable, sql } from './db.ts';

export interface Upload {
  /** The requisition's name: `dataProviders/…/requisitions/…`. */
  requisition: string;
  computation: string;
  dataProvider: string;
  certificate: string;
  nonce: bigint;
  registerCount: number;
  /** The seed that the provider encrypted for the other worker. Empty in protocols without seeds. */
  secretSeed: Uint8Array;
  /** A serialized SignedMessage that contains a Fulfillment. */
  signedFulfillment: Uint8Array;
  blob: string;
}

export interface StoredUpload extends Upload {
  createTime: Date;
  reportedTime: Date | null;
}

const INSERT = sql(
  'insertUpload',
  `INSERT INTO uploads (requisition, computation, data_provider, certificate, nonce, register_count, secret_seed,
     signed_fulfillment, blob)
   SELECT $1, id, $3, $4, $5, $6, $7, $8, $9 FROM computations WHERE id = $2 AND outcome IS NULL FOR NO KEY UPDATE
   ON CONFLICT (requisition) DO NOTHING RETURNING requisition`,
);

/**
 * Stores an upload and completes its blob. Returns false if the requisition already has an upload or the computation
 * has ended.
 */
export async function storeUpload(tx: Queryable, upload: Upload): Promise<boolean> {
  const { requisition, computation, dataProvider, certificate, nonce, registerCount } = upload;
  const about = [requisition, computation, dataProvider, certificate, nonce, registerCount];
  const rows = await tx.query(INSERT, [...about, upload.secretSeed, upload.signedFulfillment, upload.blob]);
  if (rows.length !== 1) return false;
  await completeBlob(tx, upload.blob, computation);
  return true;
}

const OF_REQUISITION = sql('uploadOf', 'SELECT * FROM uploads WHERE requisition = $1');
const OF_COMPUTATION = sql('uploadsOf', 'SELECT * FROM uploads WHERE computation = $1 ORDER BY requisition');
const UNREPORTED = sql(
  'unreportedUploads',
  `SELECT u.* FROM uploads u JOIN computations c ON c.id = u.computation
   WHERE u.reported_time IS NULL AND c.outcome IS NULL AND u.requisition > $1 ORDER BY u.requisition LIMIT $2`,
);
const REPORTED = sql(
  'markReported',
  'UPDATE uploads SET reported_time = now() WHERE requisition = $1 AND reported_time IS NULL',
);

export async function uploadOf(db: Queryable, requisition: string): Promise<StoredUpload | undefined> {
  const [row] = await db.query(OF_REQUISITION, [requisition]);
  return row && camelCase(row);
}

export async function uploadsOf(db: Queryable, computation: string): Promise<StoredUpload[]> {
  return (await db.query(OF_COMPUTATION, [computation])).map((row) => camelCase<StoredUpload>(row));
}

export async function unreportedUploads(
  db: Queryable,
  { afterName = '', limit = 100 } = {},
): Promise<StoredUpload[]> {
  return (await db.query(UNREPORTED, [afterName, limit])).map((row) => camelCase<StoredUpload>(row));
}

export async function markReported(db: Queryable, requisition: string): Promise<void> {
  await db.query(REPORTED, [requisition]);
}
