/** Tasks that work on the database without the HTTP server, whether or not the exchange is running. */
import { randomUUID } from 'node:crypto';
import { type Timestamp, timestampOf } from '@measurement-exchange/contract';
import type pg from 'pg';
import { type Config, ConfigError } from './config/config.ts';
import { withDatabase } from './connections.ts';
import { Database, sqlState } from './database/db.ts';
import { audit } from './database/log.ts';
import { bindingOf, insertBinding } from './database/principals.ts';
import { OPERATOR } from './domain/access.ts';
import { newId } from './ids.ts';
import { applyRetention, previewRetention, type Retention, type RetentionCounts } from './jobs/retention.ts';

export { type BackupFacts, backup } from './backup/backup.ts';
export { restore } from './backup/restore.ts';
export { withDatabase } from './connections.ts';
export { CHECKS, type DoctorFinding, doctor } from './database/doctor.ts';
export { migrate, RESTORED } from './database/migrate.ts';
export type { RetentionCounts } from './jobs/retention.ts';

const clock = (): Timestamp => timestampOf(Date.now());

/**
 * Binds a subject of a token issuer to the operator. Writes to the database directly, because the API accepts this
 * request only from an existing operator.
 */
export function bindOperator(
  config: Config,
  { issuer, subject }: { issuer: string; subject: string },
): Promise<{ name: string; created: boolean }> {
  const issuers = config.issuers.map((known) => known.issuer);
  if (issuers.length > 0 && !issuers.includes(issuer)) {
    throw new ConfigError([`The exchange accepts tokens of ${issuers.join(', ')}, not of ${issuer}.`]);
  }
  return withDatabase(config, ({ owner }) =>
    withConnection(owner, async (db) => {
      const existing = await bindingOf(db, issuer, subject);
      if (existing !== undefined) {
        if (existing.resource === OPERATOR.name) return { name: `principals/${existing.id}`, created: false };
        throw new Error(
          `${subject} of ${issuer} speaks for ${existing.resource}: an operator needs a separate subject.`,
        );
      }
      const id = newId();
      const time = clock();
      await db.tx('bindOperator', async (tx) => {
        await insertBinding(tx, { id, issuer, subject, resource: OPERATOR.name, createTime: time });
        audit(tx, {
          time,
          principal: 'database owner',
          operation: 'bindOperator',
          name: `principals/${id}`,
          version: 1,
          requestId: randomUUID(),
        });
      });
      return { name: `principals/${id}`, created: true };
    }),
  );
}

const sum = ({ cancel, remove }: RetentionCounts) => cancel + remove;

/** The minimum time between two counts of the remaining measurements. Counting a large table is slow. */
const COUNT_EVERY_MS = 1_000;

/** Counts the measurements that retention would cancel and remove. With `apply`, also cancels and removes them. */
export function runRetention(
  config: Config,
  retention: Retention,
  options: { apply: boolean; onProgress?: (done: number, total: number) => void },
): Promise<RetentionCounts> {
  const { apply, onProgress } = options;
  // Connect as the role that serves requests, because it has all rights that retention needs.
  return withDatabase(config, ({ app }) =>
    withConnection(app, async (db) => {
      const exchange = { db, clock };
      const before = await previewRetention(exchange, retention);
      if (!apply) return before;
      let left = before;
      for (let previous = Number.POSITIVE_INFINITY; sum(left) > 0 && sum(left) < previous; ) {
        previous = sum(left);
        const countAt = Date.now() + COUNT_EVERY_MS;
        while ((await applyRetention(exchange, retention)) && Date.now() < countAt);
        left = await previewRetention(exchange, retention);
        onProgress?.(sum(before) - sum(left), sum(before));
      }
      return { cancel: before.cancel - left.cancel, remove: before.remove - left.remove };
    }),
  );
}

async function withConnection<T>(
  connection: pg.ClientConfig,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const db = new Database({ connection, applicationName: 'mex admin', maxConnections: 2 });
  try {
    return await work(db);
  } catch (error) {
    const isOld = ['42P01', '42703'].includes(sqlState(error) ?? ''); // A table or a column is missing.
    throw isOld ? new Error('The database lacks the schema of this version: run mex migrate first.') : error;
  } finally {
    await db.close();
  }
}
