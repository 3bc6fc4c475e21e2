/** Gauges whose values are queries. */
import { PATTERNS, type Timestamp } from '@measurement-exchange/contract';
import { countExpiring } from '../database/certificates.ts';
import type { Database } from '../database/db.ts';
import { countCascades } from '../database/revocationCascades.ts';
import { PARTY_KINDS } from '../domain/access.ts';
import { EXPIRING_DAYS } from '../domain/certificate.ts';
import type { Metrics } from './metrics.ts';

export function watchDatabase(
  metrics: Metrics,
  { db, clock }: { db: Database; clock: () => Timestamp },
): void {
  metrics.watchPool(db.pool);
  const expiring = {
    name: 'mex_certificates_expiring',
    help: `Certificates in force that expire within ${EXPIRING_DAYS} days, by kind of party`,
    labelNames: ['kind'],
  };
  metrics.watch(expiring, 60_000, async () => {
    const counts = await countExpiring(db, clock(), EXPIRING_DAYS);
    return PARTY_KINDS.map((kind) => {
      const [collection] = PATTERNS[kind].split('/');
      return { labels: { kind }, value: counts.get(collection!) ?? 0 };
    });
  });
  const cascades = {
    name: 'mex_revocation_cascades_pending',
    help: 'Revoked certificates whose measurements are still being failed',
  };
  metrics.watch(cascades, 1_000, async () => [{ value: await countCascades(db) }]);
}
