/** The references that the operator confirmed, and the questions about others, which are held. */
import type { DatabaseSync } from 'node:sqlite';
import { timestampOf } from '@measurement-exchange/contract';

/** A reference that the operator confirmed. */
export interface ConfirmedReference {
  reference: string;
  confirmTime: string;
}

/** A question that waits until the operator confirms the references that it is about. */
export interface HeldQuestion {
  requisition: string;
  /** `measurementConsumers/…` */
  measurementConsumer: string;
  references: readonly string[];
  /** When it was first held. */
  since: string;
}

/** The held questions in a ledger. */
export interface HeldQuestions {
  set(question: Omit<HeldQuestion, 'since'>): void;
  remove(requisition: string): void;
  /** Removes those that are not among these. */
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

/** The one that waits longest is first. */
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
