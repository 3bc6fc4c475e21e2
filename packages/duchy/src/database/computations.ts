/**
 * The table of this duchy's computations. A row has the exchange's view of the computation, its secrets, and its
 * outcome.
 */
import { randomBytes } from 'node:crypto';
import {
  Computation,
  type DuchyRole,
  decode,
  ExchangeError,
  type Protocol,
  parseJson,
  toJson,
  type Violation,
} from '@measurement-exchange/contract';
import { SECRETS_KEY_BYTES, Secrets } from '@measurement-exchange/server';
import { camelCase, type Queryable, type Row, type SealingQueryable, sql } from './db.ts';
import { removeBlobsOf } from './retention.ts';

export type Outcome = 'SUCCEEDED' | 'FAILED' | 'CANCELLED';

export interface StoredComputation {
  id: string;
  role: DuchyRole;
  protocol: Exclude<Protocol, 'direct'>;
  stage: string;
  view: Computation;
  /** The serialized MeasurementSpec, whose signature has been verified. */
  spec: Uint8Array;
  /**
   * The number of registers in each upload: the size of the VID sample in the share shuffle protocol, and the size of a
   * sketch in the Liquid Legions protocols.
   */
  registerCount: number;
  attempt: number;
  /**
   * The earliest time at which a mill (a loop that runs stages) may run the stage. Null while the stage waits for a
   * message, or for the computation to reach a certain state at the exchange. Also null after the last stage, and after
   * the computation has ended.
   */
  runAfter: Date | null;
  lastError: string | null;
  outcome: Outcome | null;
  failure: string | null;
  createTime: Date;
  updateTime: Date;
}

export interface ComputationSecrets {
  /**
   * In the share shuffle protocol, this worker's contribution to the seed that both workers share. In the other
   * protocols, the seed of this duchy's ElGamal key.
   */
  randomSeed?: Uint8Array | undefined;
  noiseSeed?: Uint8Array | undefined;
  /** The private keyset for data that providers and other duchies encrypt for this duchy. */
  privateKeyset?: Uint8Array | undefined;
  /** A value that a stage stores for a later stage. */
  interim?: Uint8Array | undefined;
}

export interface NewComputation
  extends Pick<StoredComputation, 'id' | 'role' | 'protocol' | 'stage' | 'view' | 'spec' | 'registerCount'> {
  runAfter?: Date | null;
  secrets?: ComputationSecrets;
}

const INSERT = sql(
  'insertComputation',
  `WITH created AS (
     INSERT INTO computations (id, role, protocol, stage, view, spec, register_count, run_after,
       random_seed, noise_seed, private_keyset, blob_key)
     SELECT $1, $2, $3, $4, $5, $6, $7,
       CASE WHEN $8::timestamptz IS NOT NULL THEN greatest($8, clock_timestamp()) END, $9, $10, $11, $13
     WHERE NOT EXISTS (SELECT FROM removed_computations WHERE id = $1)
     ON CONFLICT (id) DO NOTHING RETURNING id),
   asked AS (INSERT INTO requisitions (name, computation) SELECT unnest($12::text[]), id FROM created)
   SELECT id FROM created`,
);

/**
 * Creates a computation with its secrets. Returns false if the computation already exists or has been removed, because
 * a computation must never get new secrets.
 */
export async function createComputation(db: SealingQueryable, computation: NewComputation): Promise<boolean> {
  const { id, role, protocol, stage, view, spec, registerCount, runAfter = null, secrets = {} } = computation;
  const sealed = SECRETS.map(({ member, column }) => sealSecret(db, id, column, secrets[member]));
  const about = [id, role, protocol, stage, toJson(Computation, view), spec, registerCount, runAfter];
  const requisitions = view.requisitions.map(({ name }) => name);
  const blobKey = sealSecret(db, id, BLOB_KEY, randomBytes(SECRETS_KEY_BYTES));
  const rows = await db.query(INSERT, [...about, ...sealed, requisitions, blobKey]);
  return rows.length === 1;
}

export const COMPUTATION_COLUMNS =
  'id, role, protocol, stage, view, spec, register_count, attempt, run_after, last_error, outcome, failure, create_time, update_time';

const READ = sql('readComputation', `SELECT ${COMPUTATION_COLUMNS} FROM computations WHERE id = $1`);
const READ_BY_REQUISITION = sql(
  'readComputationOfRequisition',
  `SELECT ${COMPUTATION_COLUMNS} FROM computations
   WHERE id = (SELECT computation FROM requisitions WHERE name = $1)`,
);
const PENDING = sql(
  'pendingComputations',
  `SELECT ${COMPUTATION_COLUMNS} FROM computations WHERE outcome IS NULL AND id > $1 ORDER BY id LIMIT $2`,
);

export async function readComputation(db: Queryable, id: string): Promise<StoredComputation | undefined> {
  const [row] = await db.query(READ, [id]);
  return row && computationOf(row);
}

export async function computationOfRequisition(
  db: Queryable,
  requisition: string,
): Promise<StoredComputation | undefined> {
  const [row] = await db.query(READ_BY_REQUISITION, [requisition]);
  return row && computationOf(row);
}

export async function pendingComputations(
  db: Queryable,
  { afterId = '', limit = 100 } = {},
): Promise<StoredComputation[]> {
  return (await db.query(PENDING, [afterId, limit])).map(computationOf);
}

const MOVING = sql(
  'movingComputation',
  `SELECT 1 FROM computations WHERE outcome IS NULL AND protocol = ANY($1)
   AND update_time > now() - interval '10 minutes' LIMIT 1`,
);

/**
 * Returns whether a pending computation of these protocols changed in the last 10 minutes. If so, a mill will probably
 * run a stage soon.
 */
export async function hasMovingComputation(
  db: Queryable,
  protocols: readonly StoredComputation['protocol'][],
): Promise<boolean> {
  return (await db.query(MOVING, [protocols])).length > 0;
}

const COUNT_PENDING = sql(
  'countPending',
  'SELECT role, stage, count(*) AS count FROM computations WHERE outcome IS NULL GROUP BY role, stage',
);

export async function countPending(db: Queryable) {
  return (await db.query(COUNT_PENDING, [])) as { role: string; stage: string; count: number }[];
}

export function computationOf(row: Row): StoredComputation {
  return { ...camelCase<StoredComputation>(row), view: viewOf(row.view) };
}

function viewOf(text: string): Computation {
  const violations: Violation[] = [];
  const view = decode(Computation, parseJson(text), violations, '', 'response');
  if (view !== undefined) return view;
  throw new Error(`A stored computation is malformed: ${violations[0]!.field} ${violations[0]!.description}`);
}

const UPDATE_VIEW = sql(
  'updateView',
  `UPDATE computations SET view = $2 WHERE id = $1 AND outcome IS NULL
   AND coalesce(view->>'updateTime', '') COLLATE "C" <= coalesce($2::jsonb->>'updateTime', '') RETURNING id`,
);

/** Stores a new view. Returns false if the stored view is newer or the computation has ended. */
export async function updateView(db: Queryable, id: string, view: Computation): Promise<boolean> {
  return (await db.query(UPDATE_VIEW, [id, toJson(Computation, view)])).length === 1;
}

/** The members of ComputationSecrets that are stored when a computation is created, with their columns. */
const SECRETS = [
  { member: 'randomSeed', column: 'random_seed' },
  { member: 'noiseSeed', column: 'noise_seed' },
  { member: 'privateKeyset', column: 'private_keyset' },
] as const;
const SEALED = [...SECRETS, { member: 'interim', column: 'interim' }] as const;

const READ_SECRETS = sql(
  'readSecrets',
  'SELECT random_seed, noise_seed, private_keyset, interim FROM computations WHERE id = $1',
);

const BLOB_KEY = 'blob_key';
const READ_BLOB_KEY = sql('readBlobKey', 'SELECT outcome, blob_key FROM computations WHERE id = $1');

/**
 * Returns the key that encrypts a computation's blobs. Throws for `write` if the computation has ended. Computations
 * created by older versions use the duchy's own key.
 */
export async function blobSecrets(db: SealingQueryable, id: string, use: 'read' | 'write'): Promise<Secrets> {
  const [row] = await db.query(READ_BLOB_KEY, [id]);
  if (use === 'write' && row?.outcome !== null) {
    throw new ExchangeError('COMPUTATION_STATE_ILLEGAL', `The computation ${id} has ended.`);
  }
  const sealed: Buffer | null = row?.[BLOB_KEY] ?? null;
  return sealed === null ? db.secrets : new Secrets(db.secrets.open(placeOf(id, BLOB_KEY), sealed));
}

/** Returns the computation's secrets, or an empty object after the computation has ended. */
export async function readSecrets(db: SealingQueryable, id: string): Promise<ComputationSecrets> {
  const [row] = await db.query(READ_SECRETS, [id]);
  return Object.fromEntries(
    SEALED.flatMap(({ member, column }) => {
      const sealed: Buffer | null | undefined = row?.[column];
      return sealed ? [[member, db.secrets.open(placeOf(id, column), sealed)]] : [];
    }),
  );
}

const KEEP_INTERIM = sql(
  'keepInterim',
  'UPDATE computations SET interim = $2 WHERE id = $1 AND outcome IS NULL',
);

/**
 * Stores a value for a later stage. Call this before storing the current stage's output. A retry sends a stored output
 * without computing the stage again, so a value that was not stored first would be lost.
 */
export async function keepInterim(db: SealingQueryable, id: string, interim: Uint8Array): Promise<void> {
  await db.query(KEEP_INTERIM, [id, sealSecret(db, id, 'interim', interim)]);
}

function sealSecret(db: SealingQueryable, id: string, column: string, secret: Uint8Array | undefined) {
  return secret === undefined ? null : db.secrets.seal(placeOf(id, column), secret);
}

function placeOf(id: string, column: string): string {
  return `computations/${id}/${column}`;
}

const END = sql(
  'endComputation',
  `UPDATE computations SET outcome = $2, failure = $3,
     run_after = NULL, lease_token = NULL, lease_until = NULL, lease_owner = NULL,
     random_seed = NULL, noise_seed = NULL, private_keyset = NULL, interim = NULL,
     blob_key = CASE WHEN $4 THEN blob_key END
   WHERE id = $1 AND outcome IS NULL RETURNING id`,
);

export interface End {
  outcome: Outcome;
  failure?: string | null;
  /** If true, the blobs and their key stay until the retention job removes them. Otherwise, they are removed now. */
  keepsBlobs?: boolean | undefined;
}

/**
 * Ends a computation in any stage, even while a mill holds its lease, and deletes its secrets in the same statement.
 * Returns false if the computation has already ended.
 */
export async function endComputation(
  db: Queryable,
  id: string,
  { outcome, failure = null, keepsBlobs = false }: End,
): Promise<boolean> {
  if ((await db.query(END, [id, outcome, failure, keepsBlobs])).length !== 1) return false;
  // If removing the blobs fails, the retention job removes them later.
  if (!keepsBlobs) await removeBlobsOf(db, id).catch(() => {});
  return true;
}
