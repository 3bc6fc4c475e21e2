import type { Timestamp } from '@measurement-exchange/contract';
import { cell, object, type Reader } from '@measurement-exchange/server/database';

export interface Cursor {
  time: Timestamp | '-infinity';
  id: string;
}

export interface Page<T> {
  items: T[];
  more: boolean;
}

export interface PageRow<T> {
  item: T;
  candidates: bigint;
  nth: bigint;
}

export function pageRow<T>(item: Reader<T>): Reader<PageRow<T>> {
  return object({ item, candidates: cell<bigint>('candidates'), nth: cell<bigint>('nth') });
}

export function pageOf<T>(rows: PageRow<T>[]): Page<T> {
  const last = rows.at(-1);
  return { items: rows.map(({ item }) => item), more: last !== undefined && last.candidates > last.nth };
}

/**
 * Generates SQL for a page with a limited number of rows. `rows` selects the rows after the cursor. `$3` is the
 * limit.
 */
export function pageText(rows: string, order: string): string {
  return `WITH candidates AS MATERIALIZED (${rows} ORDER BY ${order} LIMIT $3::int + 1)
    SELECT * FROM (
      SELECT *, count(*) OVER () AS candidates, row_number() OVER (ORDER BY ${order}) AS nth FROM candidates
    ) page WHERE nth <= $3::int ORDER BY nth`;
}

/**
 * Generates SQL for a page with a limited number of rows and bytes. The first row is returned even if it exceeds the
 * byte limit. `candidates` selects the key, position, and size of up to limit + 1 rows. The generated SQL names these
 * numbered rows `page`. `rows` joins `page` with the listed table, and must also select `page.candidates` and
 * `page.nth`.
 */
export function longPageText(
  candidates: string,
  rows: string,
  parameters: { limit: number; bytes: number },
  order = 'page.nth',
  sorted = 'position, id',
): string {
  return `WITH candidates AS MATERIALIZED (${candidates}), page AS (
      SELECT *, count(*) OVER () AS candidates, row_number() OVER w AS nth, sum(size) OVER w AS running
        FROM candidates WINDOW w AS (ORDER BY ${sorted})
    )
    ${rows} WHERE page.nth <= $${parameters.limit}::int AND (page.nth = 1 OR page.running <= $${parameters.bytes}::bigint)
    ORDER BY ${order}`;
}
