/** Runs only the statements of a traced operation, with the exchange's own driver and pool settings. */
import type pg from 'pg';
import '@measurement-exchange/exchange/internal/main';
import { Database, statements } from '@measurement-exchange/exchange/internal/database/db';
import type { Script } from './trace.ts';

export interface Play {
  script: Script;
  /** Texts in the script's values that are replaced by the values of each item. */
  names: string[];
  items: string[][];
}

type Query = { name: string; text: string; values: unknown[] };

export class ScriptPlayer {
  private readonly database: Database;
  private trips: Query[][][] = [];
  private transaction = false;

  constructor(databaseUrl: string) {
    const connection = { connectionString: databaseUrl };
    this.database = new Database({ connection, applicationName: 'bench' });
  }

  /** Prepares the values of every item before timing starts. */
  load({ script, names, items }: Play): void {
    this.transaction = script.transaction;
    this.trips = items.map((item) => {
      const replaced = new Map(names.map((name, i) => [name, item[i]!]));
      return script.trips.map((steps) =>
        steps.map(({ statement, values }) => ({
          ...statements.get(statement)!,
          values: values.map((value) => substitute(value, replaced)),
        })),
      );
    });
  }

  get length(): number {
    return this.trips.length;
  }

  async play(item: number): Promise<void> {
    const trips = this.trips[item % this.trips.length]!;
    const { pool } = this.database;
    if (!this.transaction) {
      for (const queries of trips) await Promise.all(queries.map((query) => pool.query(query)));
      return;
    }
    const client = await pool.connect();
    try {
      for (const [i, queries] of trips.entries()) {
        const sent: Promise<pg.QueryResult>[] = [];
        if (i === 0) sent.push(client.query('BEGIN'));
        for (const query of queries) sent.push(client.query(query));
        if (i === trips.length - 1) sent.push(client.query('COMMIT'));
        const results = await Promise.all(sent);
        // A COMMIT after a failed statement rolls back without an error, so check its command tag.
        if (i === trips.length - 1 && results.at(-1)!.command !== 'COMMIT') throw new Error('not committed');
      }
    } finally {
      client.release();
    }
  }
}

function substitute(value: unknown, replaced: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return replaced.get(value) ?? value;
  if (Array.isArray(value)) return value.map((each) => substitute(each, replaced));
  return value;
}
