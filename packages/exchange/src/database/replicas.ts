/** Records the processes that serve the exchange. Each process updates its row once a minute. */
import type { Timestamp } from '@measurement-exchange/contract';
import { sql } from './db.ts';
import { read } from './run.ts';

export interface ReplicaRecord {
  id: string;
  host: string;
  version: string;
  startTime: Timestamp;
}

/** Stores this replica's row, and removes the rows of replicas that were last seen before `forgotten`. */
export const storeReplica = read.done(
  ({ id, host, version, startTime }: ReplicaRecord, now: Timestamp, forgotten: Timestamp) => [
    ...[id, host, version, startTime, now, forgotten],
  ],
  'replica_store',
  `WITH gone AS (DELETE FROM replicas WHERE time < $6)
   INSERT INTO replicas (id, host, version, start_time, time) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (id) DO UPDATE SET time = excluded.time`,
);

export const removeReplica = read.done(
  (id: string) => [id],
  'replica_remove',
  'DELETE FROM replicas WHERE id = $1',
);

export const listReplicas = read.all(
  (since: Timestamp) => [since],
  sql<ReplicaRecord & { lastSeen: Timestamp }>(
    'replica_list',
    `SELECT id, host, version, start_time AS "startTime", time AS "lastSeen" FROM replicas WHERE time >= $1 ORDER BY start_time, id LIMIT 1000`,
  ),
);
