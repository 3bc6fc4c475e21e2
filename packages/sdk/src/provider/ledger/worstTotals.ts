/** Computes the largest total charge to any one person, for each event group reference and day of a ledger. */
import type { DatabaseSync } from 'node:sqlite';
import { type SlicedAmounts, SliceSums, type Units } from '@measurement-exchange/mpc/charges';
import { amountsOf, type SliceRow, sliceTexts } from './slices.ts';

/** The charges for one event group reference and one day. */
export interface Total {
  reference: string;
  day: string;
  amounts: SlicedAmounts;
  /** The largest total charge to any one person, separately for epsilon, delta, and rho. */
  units: Units;
}

type Row = SliceRow & { reference: string; day: string };

/** Returns the total of each reference and day, sorted by reference and day. */
export function worstTotals(database: DatabaseSync): Total[] {
  const totals: Total[] = [];
  const worst = new WorstOf(database);
  for (const rows of placesOf(unitRows<Row>(database, 'SELECT * FROM totals ORDER BY reference, day'))) {
    const { reference, day } = rows[0]!;
    totals.push({ reference, day, ...worst.of(rows) });
  }
  return totals;
}

/** Adds up rows of a ledger, and finds the largest total charge to any one person. */
export class WorstOf {
  readonly sums = new SliceSums();
  private readonly texts: ReadonlyMap<number, string>;

  constructor(database: DatabaseSync) {
    this.texts = sliceTexts(database);
  }

  of(rows: Iterable<SliceRow>): Pick<Total, 'amounts' | 'units'> {
    const amounts = amountsOf(rows, this.texts);
    return { amounts, units: this.sums.worst(amounts) };
  }

  textOf(slice: number | bigint): string {
    return this.texts.get(Number(slice))!;
  }
}

/** Splits rows that are sorted by reference and day into one list for each reference and day. */
function placesOf(rows: readonly Row[]): Row[][] {
  const places: Row[][] = [];
  for (const row of rows) {
    const last = places.at(-1);
    if (last !== undefined && last[0]!.reference === row.reference && last[0]!.day === row.day)
      last.push(row);
    else places.push([row]);
  }
  return places;
}

export function unitRows<R>(database: DatabaseSync, sql: string, ...values: string[]): R[] {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  return statement.all(...values) as unknown as R[];
}
