/**
 * Creates Parquet files with the impressions of three providers. Each person whom a provider reached has one or two
 * impressions.
 */
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

export const CAMPAIGN = { start: '2026-10-01T00:00:00Z', end: '2026-10-29T00:00:00Z' };
/** The event group reference in every row of the files. */
export const EVENT_GROUP = 'campaign';
/** The number of people that each provider reached, per thousand. */
const REACHED = [450, 320, 200];

/** Writes one file per provider. The content is the same in every run. */
export async function createAudiences(folder: string, people: number): Promise<string[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const files = REACHED.map((_, i) => join(folder, `${people}-${i}.parquet`));
    for (const [i, file] of files.entries()) {
      await connection.run(`COPY (
        SELECT vid, TIMESTAMP '2026-10-02' + to_seconds((vid % 1000000)::BIGINT) AS timestamp, '${EVENT_GROUP}' AS event_group
        FROM range(1, ${people} + 1) AS people(vid), range(2) AS times(i)
        WHERE hash(vid, ${i}) % 1000 < ${REACHED[i]} AND (times.i = 0 OR hash(vid, 9) % 4 = 0)
      ) TO '${file}' (FORMAT parquet)`);
    }
    return files;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
