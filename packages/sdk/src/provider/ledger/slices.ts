/** Stores a ledger's slices, which are groups of people, and adds up the amounts that were charged to each slice. */
import type { DatabaseSync } from 'node:sqlite';
import {
  addUnits,
  NOTHING,
  type SlicedAmounts,
  SliceSums,
  type Units,
} from '@measurement-exchange/mpc/charges';
import type { Statements } from './statements.ts';

/** An amount that was charged to one of a ledger's slices. */
export type SliceRow = Units & { slice: number | bigint };

/** The slices of an open ledger, in memory. Each slice has an ID and a text that describes its people. */
export class StoredSlices {
  readonly sums = new SliceSums();
  private readonly statements: Pick<Statements, 'selectSlices' | 'insertSlice'>;
  private readonly ids = new Map<string, number>();
  private readonly texts = new Map<number, string>();

  constructor(statements: Pick<Statements, 'selectSlices' | 'insertSlice'>) {
    this.statements = statements;
    this.reload();
  }

  /** Reads all slices again. Call this after a rollback, which may have removed a slice. */
  reload(): void {
    this.ids.clear();
    this.texts.clear();
    for (const { id, people } of this.statements.selectSlices.all()) this.know(Number(id), String(people));
  }

  /** Returns the ID of a slice, and stores the slice if it is new. */
  idOf(text: string): number {
    const known = this.ids.get(text);
    if (known !== undefined) return known;
    const id = Number(this.statements.insertSlice.get(text)!.id);
    this.know(id, text);
    return id;
  }

  amountsOf(rows: Iterable<SliceRow>): SlicedAmounts {
    return amountsOf(rows, this.texts);
  }

  private know(id: number, text: string): void {
    this.ids.set(text, id);
    this.texts.set(id, text);
  }
}

/** Adds up the charged amounts of each slice. The keys of the returned map are the texts of the slices. */
export function amountsOf(rows: Iterable<SliceRow>, texts: ReadonlyMap<number, string>): SlicedAmounts {
  const amounts = new Map<string, Units>();
  for (const { slice, epsilon, delta, rho } of rows) {
    const text = texts.get(Number(slice))!;
    amounts.set(text, addUnits(amounts.get(text) ?? NOTHING, { epsilon, delta, rho }));
  }
  return amounts;
}

export function sliceTexts(database: DatabaseSync): Map<number, string> {
  const rows = database.prepare('SELECT id, people FROM slices').all();
  return new Map(rows.map(({ id, people }) => [Number(id), String(people)]));
}
