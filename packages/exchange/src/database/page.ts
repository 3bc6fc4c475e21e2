/** Pages of a list: where one begins, and whether another follows. */
import type { Timestamp } from '@measurement-exchange/contract';

/** The last row of the page before; rows strictly beyond it follow. */
export interface Cursor {
  time: Timestamp | '-infinity';
  id: string;
}

export interface Page<T> {
  items: T[];
  more: boolean;
}

/** The statement counted its candidates, one more than the page may hold. */
export function hasMore(rows: { candidates?: bigint; nth?: bigint }[]): boolean {
  const last = rows.at(-1);
  return last !== undefined && last.candidates! > last.nth!;
}

/** A page of short rows: `rows` selects those beyond the cursor; `$3` is the limit. */
export function pageText(rows: string, order: string): string {
  return `WITH candidates AS MATERIALIZED (${rows} ORDER BY ${order} LIMIT $3::int + 1)
    SELECT * FROM (
      SELECT *, count(*) OVER () AS candidates, row_number() OVER (ORDER BY ${order}) AS nth FROM candidates
    ) page WHERE nth <= $3::int ORDER BY nth`;
}
