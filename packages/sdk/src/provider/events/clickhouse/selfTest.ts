/**
 * Checks three things: the server computes as the agent expects, the server applies the agent's settings, and the
 * account has read-only access.
 */
import { sampleBucket } from '../buckets.ts';
import { EventsUnavailable } from '../errors.ts';
import type { Watch } from '../source.ts';
import { Parameters } from './parameters.ts';
import type { Server } from './server.ts';
import type { Settings } from './settings.ts';
import { bucketSql } from './statement.ts';

/** Test VIDs: large and small, positive and negative, and the ends of the 64-bit range. */
export const TEST_VIDS: readonly bigint[] = Array.from({ length: 64 }, (_, i) => {
  const vid =
    i < 4 ? [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n)][i]! : (0x9e3779b97f4a7c15n * BigInt(i)) >> BigInt(i % 61);
  return BigInt.asIntN(64, vid);
});

export async function selfTest(server: Server, settings: Settings, watch: Watch): Promise<void> {
  await requireBuckets(server, watch);
  await requireRules(server, watch);
  await requireSettings(server, settings, watch);
  await requireReader(server, watch);
}

async function requireBuckets(server: Server, watch: Watch): Promise<void> {
  const parameters = new Parameters();
  const vids = parameters.raw(`[${TEST_VIDS.join(',')}]`, 'Array(Int64)');
  const sql = `SELECT arrayMap(vid -> ${bucketSql('vid')}, ${vids})`;
  const [row] = (await server.rows(sql, parameters, watch)).rows;
  const buckets = (row?.[0] as (string | number)[] | undefined) ?? [];
  if (TEST_VIDS.every((vid, i) => Number(buckets[i]) === sampleBucket(vid))) return;
  throw new EventsUnavailable(
    'The server hashes VIDs differently, so it would sample other people: use a ClickHouse of version 24.8 or later.',
  );
}

/**
 * SQL expressions, by the behavior that they test. Each must be 1, or the agent's statements could give wrong results.
 */
const RULES = {
  'NULL in conditions': `isNull(NULL AND 1) AND NOT (NULL AND 0) AND (NULL OR 1) AND isNull(NULL OR 0) AND isNull(NOT NULL)
    AND isNull([1, 2][CAST(NULL AS Nullable(Bool)) + 1])`,
  'NaN in comparisons': 'NOT (nan = nan) AND NOT (nan < 1) AND NOT (nan >= 1)',
  'text in bytes and code points':
    "lengthUTF8('é😀') = 2 AND 'Z' < 'a' AND 'z' < 'é' AND position('a', '') = 1",
  'the time zone': "toString(toDateTime(0)) = '1970-01-01 00:00:00'",
} as const;

async function requireRules(server: Server, watch: Watch): Promise<void> {
  const parts = Object.values(RULES).map((rule) => `toUInt8(${rule})`);
  const [row] = (await server.rows(`SELECT ${parts.join(', ')}`, new Parameters(), watch)).rows;
  const wrong = Object.keys(RULES).find((_, i) => Number(row?.[i]) !== 1);
  if (wrong === undefined) return;
  throw new EventsUnavailable(
    `The server treats ${wrong} differently: use a ClickHouse of version 24.8 or later, and leave its compatibility settings as they are.`,
  );
}

/** Throws if a setting has no effect. A server can ignore a setting that the account is not allowed to change. */
async function requireSettings(server: Server, settings: Settings, watch: Watch): Promise<void> {
  const parameters = new Parameters();
  const names = Object.keys(settings).map((name) => parameters.text(name));
  const sql = `SELECT name, value FROM system.settings WHERE name IN (${names.join(', ')})`;
  const { rows } = await server.rows(sql, parameters, watch);
  const found = new Map(rows as [string, string][]);
  const wrong = Object.keys(settings).find((name) => found.get(name) !== settings[name]);
  if (wrong === undefined) return;
  throw new EventsUnavailable(
    `The setting ${wrong} is ${found.get(wrong) ?? 'unknown'} on the server, and must be ${settings[wrong]}: allow the account to set it.`,
  );
}

/** Matches a grant of privileges that cannot change data. */
const READS = /^GRANT (?:(?:SELECT|SHOW|USAGE|dictGet)\b[^,]*(?:, )?)+(?:\([^)]*\))? ON /;

/** Throws if the account could change data. The agent only needs to read one table. */
async function requireReader(server: Server, watch: Watch): Promise<void> {
  const [row] = (await server.rows("SELECT getSetting('readonly')", new Parameters(), watch)).rows;
  if (Number(row?.[0]) > 0) return;
  const { rows } = await server.rows('SHOW GRANTS', new Parameters(), watch);
  if (rows.every(([grant]) => READS.test(String(grant)))) return;
  throw new EventsUnavailable(
    'events.source.user: the account can do more than read: give the agent an account with SELECT on the table and nothing else.',
  );
}
