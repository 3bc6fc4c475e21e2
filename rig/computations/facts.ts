/**
 * Reads rows about computations from the databases: rows that must never change, rows that must agree with rows of
 * other parties, and the leases of computations.
 */
import type { DuchyRole } from '@measurement-exchange/contract';
import type { Postgres } from '../world/postgres.ts';
import { type Duchy, LEASE_SECONDS } from './duchy.ts';

/** A row that a duchy stored: a message, an upload or a secret. */
export interface StoredFact {
  computation: string;
  kind: 'IN' | 'OUT' | 'upload' | 'secret';
  /** The stage of a message, the column of a secret, or the requisition of an upload. */
  what: string;
  /** The sender or the receiver of a message: another duchy, or `exchange`. Empty for uploads and secrets. */
  peer: string;
  /** A digest of the signed message and its data, which is equal at the sender and the receiver. Empty for secrets. */
  content: string;
  /** A digest of the stored row and its chunks, which must never change. */
  bytes: string;
  /** True for a sent message that its receiver has acknowledged. False for all other rows. */
  acknowledged: boolean;
}

export interface ComputationFact {
  id: string;
  role: DuchyRole;
  stage: string;
  outcome: string | null;
  /** True if the remaining time of the lease exceeds the maximum duration of a lease. */
  isTooLong: boolean;
  /** Milliseconds since the lease ended without a new owner. At most 0 if no lease has ended. */
  abandonedMs: number;
}

export interface DuchyFacts {
  stored: StoredFact[];
  computations: ComputationFact[];
}

const CHUNKS = `(SELECT string_agg(data, ''::bytea ORDER BY ordinal) FROM blob_chunks c WHERE c.blob = b.id)`;
const HEX = (bytes: string) => `encode(sha256(${bytes}), 'hex')`;
const MESSAGES = `
  SELECT m.computation, direction AS kind, stage AS what, peer, acknowledged_time IS NOT NULL AS acknowledged,
         ${HEX(`coalesce(signed_message, '') || b.sha256`)} AS content,
         ${HEX(`convert_to(m.blob || certificate, 'UTF8') || ${CHUNKS}`)} AS bytes
    FROM messages m JOIN blobs b ON b.id = m.blob`;
const UPLOADS = `
  SELECT u.computation, 'upload', requisition, '', false,
         ${HEX('signed_fulfillment || b.sha256')}, ${HEX(`convert_to(u.blob || certificate, 'UTF8') || ${CHUNKS}`)}
    FROM uploads u JOIN blobs b ON b.id = u.blob WHERE b.complete_time IS NOT NULL`;
const SECRETS = ['random_seed', 'noise_seed', 'private_keyset'].map(
  (column) =>
    `SELECT id, 'secret', '${column}', '', false, '', ${HEX(column)} FROM computations WHERE ${column} IS NOT NULL`,
);
const STORED = `SELECT * FROM (${[MESSAGES, UPLOADS, ...SECRETS].join(' UNION ALL ')}) AS facts`;
const COMPUTATIONS = `
  SELECT id, role, stage, outcome,
         coalesce(lease_until > clock_timestamp() + interval '${LEASE_SECONDS} seconds', false) AS "isTooLong",
         coalesce(extract(epoch FROM clock_timestamp() - lease_until) * 1000, 0)::float8 AS "abandonedMs"
    FROM computations`;

/** Reads the facts that a duchy stored, without those about the computations whose IDs are in `except`. */
export async function duchyFacts(duchy: Duchy, except: string[]): Promise<DuchyFacts> {
  const [stored, computations] = await Promise.all([
    duchy.query(`${STORED} WHERE computation <> ALL($1)`, [except]),
    duchy.query(`${COMPUTATIONS} WHERE id <> ALL($1)`, [except]),
  ]);
  return { stored, computations };
}

/** Reads the rows that the duchy stored for one computation. */
export async function storedOf(duchy: Duchy, computation: string): Promise<StoredFact[]> {
  return duchy.query(`${STORED} WHERE computation = $1`, [computation]);
}

export interface FulfilledFact {
  computation: string;
  requisition: string;
  duchy: string;
}

/**
 * Reads the requisitions that, according to the exchange, were fulfilled through a duchy. Skips the requisitions of the
 * measurements whose IDs are in `except`.
 */
export async function fulfilledFacts(postgres: Postgres, except: string[]): Promise<FulfilledFact[]> {
  const rows = await postgres.query(
    `SELECT measurement AS computation, provider || '/requisitions/' || id AS requisition, fulfilling_duchy AS duchy
       FROM requisitions
      WHERE state = 'FULFILLED' AND fulfilling_duchy IS NOT NULL AND measurement <> ALL($1)`,
    [except],
  );
  return rows as unknown as FulfilledFact[];
}
