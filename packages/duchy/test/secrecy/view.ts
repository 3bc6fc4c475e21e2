/**
 * Everything that one program holds: the data it received, and all contents of its database, decrypted with its own
 * secrets.
 */
import { createHash } from 'node:crypto';
import { readBlob, readSecrets } from '../../src/database/index.ts';
import type { TestDuchy } from '../stages/world.ts';

type Query = TestDuchy['query'];

export class View {
  /** The byte strings, not decoded yet. */
  held: Buffer[] = [];
  /** The private keysets, by computation. */
  keysets = new Map<string, Uint8Array>();
  private readonly seen = new Set<string>();

  /** Keeps these bytes, unless the view has kept the same bytes before. */
  keep(part: Uint8Array | string): void {
    const bytes = Buffer.from(part as string);
    const digest = createHash('sha256').update(bytes).digest('base64');
    if (bytes.length === 0 || this.seen.has(digest)) return;
    this.seen.add(digest);
    this.held.push(bytes);
  }

  /** Clears the view, but remembers what it has seen: it does not keep the same bytes again. */
  startAnew(): void {
    this.held = [];
    this.keysets = new Map();
  }

  /** Keeps every cell of every table. */
  async keepDatabase(query: Query): Promise<void> {
    const tables = await query(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    for (const { name } of tables) {
      for (const row of await query(`SELECT * FROM ${name}`)) {
        for (const cell of Object.values(row)) {
          if (cell === null) continue;
          this.keep(cell instanceof Uint8Array || typeof cell === 'string' ? cell : JSON.stringify(cell));
        }
      }
    }
  }

  /** Keeps the duchy's database, and its secrets and blobs in plaintext, because the duchy has the key. */
  async keepDuchy({ duchy: { db }, query }: TestDuchy): Promise<void> {
    await this.keepDatabase(query);
    for (const { id } of await query('SELECT id FROM computations WHERE outcome IS NULL')) {
      const { privateKeyset, ...seeds } = await readSecrets(db, id as string);
      if (privateKeyset) this.keysets.set(id as string, privateKeyset);
      for (const seed of Object.values(seeds)) this.keep(seed!);
    }
    const stored = await query(
      'SELECT id FROM blobs WHERE complete_time IS NOT NULL AND removed_time IS NULL',
    );
    for (const { id } of stored) {
      this.keep(Buffer.concat(await Array.fromAsync(readBlob(db, id as string))));
    }
  }
}

/** Merges the views of programs that cooperate. */
export function together(...views: View[]): View {
  const all = new View();
  for (const [i, { held, keysets }] of views.entries()) {
    for (const bytes of held) all.keep(bytes);
    for (const [id, keyset] of keysets) all.keysets.set(`${i} ${id}`, keyset);
  }
  return all;
}
