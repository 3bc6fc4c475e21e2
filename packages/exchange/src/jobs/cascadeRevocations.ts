/**
 * Fails the measurements that depend on a certificate that was revoked or put on hold. The job works in small steps,
 * so that no step holds locks for long.
 */
import { lockMeasurements } from '../database/measurements.ts';
import {
  advanceCascades,
  type Cascade,
  deleteCascades,
  lockNextCascades,
  nextDependent,
} from '../database/revocationCascades.ts';
import { saveMeasurements } from '../database/writeMeasurements.ts';
import { dependenciesOf, type Outline } from '../domain/aggregate.ts';
import { certificateName, revocationMessage } from '../domain/certificate.ts';
import { fail } from '../domain/measurement.ts';
import type { Exchange } from '../operations/context.ts';

/** The maximum numbers of certificates, searched measurements, and failed measurements per transaction. */
const MAX_CASCADES = 500;
const MAX_PENDING = 1000;
const MAX_FAILED = 250;

export async function cascadeRevocations(exchange: Exchange): Promise<boolean> {
  return exchange.db.tx('cascadeRevocations', async (tx) => {
    const locked = await lockNextCascades(tx, MAX_CASCADES);
    if (locked.length === 0) return false;
    const cascades = locked.map(({ cascade }) => cascade);
    const limits = { looked: MAX_PENDING, limit: MAX_FAILED };
    const { ids, upTo } = await nextDependent(tx, cascades, locked[0]!.done, limits);

    const now = exchange.clock();
    const failing = await lockMeasurements(tx, ids);
    for (const [cascade, aggregates] of byCause(cascades, failing)) {
      const message = revocationMessage(nameOf(cascade), cascade.revocationState);
      const failed = aggregates.map((before) => ({
        before,
        change: fail(before, 'certificateRevoked', message, now),
      }));
      saveMeasurements(tx, failed, { actor: cascade.actor, requestId: cascade.requestId, findings: [] });
    }

    // One pass over the measurements is enough, because no new measurement can depend on a certificate that is revoked
    // or on hold.
    if (upTo !== undefined) advanceCascades(tx, cascades, upTo);
    else deleteCascades(tx, cascades);
    return true;
  });
}

function byCause(cascades: Cascade[], aggregates: Outline[]): Map<Cascade, Outline[]> {
  const byName = new Map(cascades.map((cascade) => [nameOf(cascade), cascade]));
  return Map.groupBy(aggregates, (aggregate) => {
    const names = dependenciesOf(aggregate).map(({ party, id = '' }) => certificateName(party, id));
    const cause = names.find((name) => byName.has(name));
    return byName.get(cause!)!;
  });
}

function nameOf({ party, certificate }: Cascade): string {
  return certificateName(party, certificate);
}
