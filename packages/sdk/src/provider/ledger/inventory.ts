/**
 * Stores which event group references the operator confirmed, and the requisitions that wait for a confirmation. By
 * confirming a reference, the operator states that the provider's events contain it.
 */
import type { DatabaseSync } from 'node:sqlite';
import { timestampOf } from '@measurement-exchange/contract';

export interface ConfirmedReference {
  reference: string;
  confirmTime: string;
}

/** A requisition that waits until the operator confirms its event group references. */
export interface HeldQuestion {
  requisition: string;
  /** The consumer's resource name, `measurementConsumers/…`. */
  measurementConsumer: string;
  references: readonly string[];
  /** When the requisition was first held. */
  since: string;
}

/** The part of a ledger that stores the requisitions on hold. */
export interface HeldQuestions {
  set(question: Omit<HeldQuestion, 'since'>): void;
  remove(requisition: string): void;
  keepOnly(requisitions: ReadonlySet<string>): void;
}

export function heldIn(database: DatabaseSync): HeldQuestions {
  const put = database.prepare(
    'INSERT INTO held VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET reference_list = excluded.reference_list',
  );
  const remove = database.prepare('DELETE FROM held WHERE requisition = ?');
  return {
    set: ({ requisition, measurementConsumer, references }) =>
      void put.run(requisition, measurementConsumer, JSON.stringify(references), timestampOf(Date.now())),
    remove: (requisition) => void remove.run(requisition),
    keepOnly(requisitions) {
      for (const { requisition } of heldQuestions(database)) {
        if (!requisitions.has(requisition)) remove.run(requisition);
      }
    },
  };
}

/** Returns the held requisitions, starting with the one that has waited longest. */
export function heldQuestions(database: DatabaseSync): HeldQuestion[] {
  const select = database.prepare(
    `SELECT requisition, measurement_consumer AS measurementConsumer, reference_list AS "references", since
     FROM held ORDER BY since, requisition`,
  );
  const rows = select.all() as unknown as (HeldQuestion & { references: string })[];
  return rows.map((row) => ({ ...row, references: JSON.parse(row.references) }));
}

export function confirmedReferences(database: DatabaseSync): ConfirmedReference[] {
  return database
    .prepare('SELECT reference, confirmed_at AS confirmTime FROM confirmed_references ORDER BY reference')
    .all() as unknown as ConfirmedReference[];
}

export function confirmIn(database: DatabaseSync, references: Iterable<string>): void {
  const put = database.prepare('INSERT INTO confirmed_references VALUES (?, ?) ON CONFLICT DO NOTHING');
  const now = timestampOf(Date.now());
  for (const reference of references) put.run(reference, now);
}
