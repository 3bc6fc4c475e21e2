/**
 * Tests that ClickHouse and the agent put every VID into the same bucket, and that the agent refuses a server that
 * computes other buckets.
 */
import { sampleBucket } from '@measurement-exchange/mpc/privacy/vidSampling';
import { skipped } from '@measurement-exchange/testkit/clickhouse/server';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { describe, expect, it } from 'vitest';
import { bucketSql } from '../../src/provider/events/clickhouse/statement.ts';
import { EventsUnavailable, openEvents } from '../../src/provider/events.ts';
import { loadTable, testServer } from './clickhouse.ts';
import { startFaultyProxy } from './faultyProxy.ts';

const VIDS = rounds(1_000_000, 1_000_000);

const TABLE = {
  columns: [
    { name: 'vid', type: 'int', nullable: false },
    { name: 'timestamp', type: 'timestamp', nullable: false },
    { name: 'event_group', type: 'string', nullable: false },
  ],
  rows: [],
} satisfies Parameters<typeof loadTable>[0];

describe.skipIf(skipped !== undefined)(`ClickHouse (${skipped ?? 'buckets'})`, () => {
  it(`puts ${VIDS} VIDs into the same buckets as the agent`, async () => {
    const { client } = await testServer();
    // Use three kinds of VIDs in equal numbers: small VIDs, VIDs from the whole 64-bit range, and VIDs at both ends of
    // the range.
    const vid = `toInt64(multiIf(number % 3 = 0, number, number % 3 = 1, reinterpretAsInt64(sipHash64(number)),
      number % 2 = 0, 9223372036854775807 - number, -9223372036854775808 + number))`;
    const result = await client.exec({
      query: `SELECT vid, toUInt32(${bucketSql('vid')}) FROM (SELECT ${vid} AS vid FROM numbers(${VIDS})) FORMAT RowBinary`,
    });
    const bytes = Buffer.concat(await Array.fromAsync(result.stream));
    expect(bytes.length).toBe(VIDS * 12);
    let wrong = 0;
    for (let at = 0; at < bytes.length; at += 12) {
      if (sampleBucket(bytes.readBigInt64LE(at)) !== bytes.readUInt32LE(at + 8)) wrong++;
    }
    expect(wrong).toBe(0);
  });

  it.each([
    ['another hash', /farmFingerprint64/g, 'xxHash64'],
    ['the hash of the number instead of its bytes', /reinterpretAsFixedString\((.*?\))/g, '($1'],
    ['other bits', /8388607/g, '4194303'],
  ])('is rejected if the server uses %s', async (_name, found, instead) => {
    const { server } = await testServer();
    const proxy = await startFaultyProxy(server.url);
    const { where, remove } = await loadTable(TABLE);
    const source = { ...where.source, url: proxy.url };
    await (await openEvents({ source })).close();
    proxy.rewrite = (sql) => sql.replace(found, instead);
    await expect(openEvents({ source })).rejects.toThrow(EventsUnavailable);
    await expect(openEvents({ source })).rejects.toThrow(/hashes VIDs differently|gave up/);
    await remove();
    await proxy.stop();
  });
});
