/** Defines the gauges for database connections, expiring certificates, revocation cascades, and the change log. */
import { PATTERNS, type Timestamp } from '@measurement-exchange/contract';
import { countExpiring } from '../database/certificates.ts';
import { horizon } from '../database/changes.ts';
import type { Database } from '../database/db.ts';
import { countCascades } from '../database/revocationCascades.ts';
import { PARTY_KINDS } from '../domain/access.ts';
import { EXPIRING_DAYS } from '../domain/certificate.ts';
import type { Metrics } from './metrics.ts';

export function watchDatabase(
  metrics: Metrics,
  { db, clock, feed }: { db: Database; clock: () => Timestamp; feed: { followers: number } },
): void {
  metrics.watchPool('mex_pool_connections', db.pool);
  const expiring = {
    name: 'mex_certificates_expiring',
    help: `Certificates in force that expire within ${EXPIRING_DAYS} days, by kind of party`,
    labelNames: ['kind'],
  };
  metrics.watch(expiring, 60_000, async () => {
    const counts = await countExpiring(db, clock(), EXPIRING_DAYS);
    return PARTY_KINDS.map((kind) => {
      const [collection] = PATTERNS[kind].split('/');
      return { labels: { kind }, value: counts.get(collection!)?.n ?? 0 };
    });
  });
  const cascades = {
    name: 'mex_revocation_cascades_pending',
    help: 'Revoked certificates whose measurements are still being failed',
  };
  metrics.watch(cascades, 1_000, async () => [{ value: await countCascades(db) }]);
  const watchers = {
    name: 'mex_changes_watchers',
    help: 'Who follows changes, in streams or in pages that wait',
  };
  metrics.watch(watchers, 0, async () => [{ value: feed.followers }]);
  const age = {
    name: 'mex_changes_horizon_seconds',
    help: 'How long the oldest running transaction has kept later changes from being read',
  };
  metrics.watch(age, 1_000, horizonAge(db));
}

/**
 * Returns a function that measures how long the oldest running transaction has kept later changes from being read, in
 * seconds. PostgreSQL may hide that transaction's start time, so the function remembers when it first saw the
 * transaction.
 */
export function horizonAge(db: Database): () => Promise<{ value: number }[]> {
  let seen = { xid: '', at: 0 };
  return async () => {
    const { xid, isHeld } = await horizon(db);
    const now = performance.now();
    if (xid !== seen.xid || !isHeld) seen = { xid, at: now };
    return [{ value: (now - seen.at) / 1000 }];
  };
}
