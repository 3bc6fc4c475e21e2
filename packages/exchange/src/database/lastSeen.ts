/**
 * Records the time of each party's last call. The process collects new times in memory, and stores all of them with one
 * statement every 30 s.
 */
import { type Timestamp, timestampOf } from '@measurement-exchange/contract';
import { halfMinuteOf } from '../domain/time.ts';
import { type Queryable, sql } from './db.ts';

const STORE = sql(
  'last_seen_store',
  `INSERT INTO last_seen (party, time) SELECT * FROM unnest($1::text[], $2::timestamptz[]) ORDER BY 1
   ON CONFLICT (party) DO UPDATE SET time = greatest(last_seen.time, excluded.time)`,
);

export class LastSeen {
  /** The time of each party's last call, in epoch milliseconds. Contains only times that are not stored yet. */
  private noted = new Map<string, number>();

  note(party: string): void {
    this.noted.set(party, Date.now());
  }

  /**
   * Returns the later of the stored time and the time of the last call to this process, rounded down to a multiple of
   * 30 s. Returns undefined if neither time is known.
   */
  latest(party: string, stored: Timestamp | undefined): Timestamp | undefined {
    const noted = this.noted.get(party);
    const time = noted === undefined ? stored : timestampOf(noted);
    if (time === undefined) return undefined;
    return halfMinuteOf(stored !== undefined && stored > time ? stored : time);
  }

  async store(db: Queryable): Promise<void> {
    const { noted } = this;
    if (noted.size === 0) return;
    this.noted = new Map();
    try {
      await db.query(STORE, [[...noted.keys()], [...noted.values()].map(timestampOf)]);
    } catch (error) {
      this.noted = new Map([...noted, ...this.noted]);
      throw error;
    }
  }
}
