/**
 * Tests reports in the change log. Every version appears once and in order, including versions that no request created.
 */
import { type Timestamp, timestampOf } from '@measurement-exchange/contract';
import { DAY_MS } from '@measurement-exchange/testkit/certificates';
import { type DevParty, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { reportKey } from '@measurement-exchange/testkit/requests';
import { castOf, createMeasurement, get, ok, post } from '@measurement-exchange/testkit/steps';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { Database } from '../../src/database/db.ts';
import { applyRetention } from '../../src/jobs/retention.ts';
import { changesBehind, tokenNow } from '../changes/follow.ts';
import { createReport, end, patch, remove, stateOf, succeeded } from './steps.ts';

const exchange = useExchange({ rate: UNLIMITED });
let acme: DevParty;
let streamly: DevParty;
beforeAll(() => {
  ({ acme, streamly } = castOf(exchange));
});

/**
 * Waits until there are at least `count` changes of reports after a token, and returns each change as `state version`.
 * `only` selects the changes of one report.
 */
async function reportChanges(token: string, count: number, only?: { name: string }): Promise<string[]> {
  let lines: string[] = [];
  await vi.waitUntil(
    async () => {
      const changes = await changesBehind(exchange, acme, token, count);
      lines = changes
        .filter(({ kind, name }) => kind === 'REPORT' && name === (only?.name ?? name))
        .map(({ state, version }) => `${state} ${version}`);
      return lines.length >= count;
    },
    { timeout: 20_000, interval: 20 },
  );
  return lines;
}

it('the change log lists a report when it is created, updated, completed and deleted', async () => {
  const token = await tokenNow(exchange, acme);
  const report = await createReport(exchange, acme);
  const measurement = await createMeasurement(exchange, acme, [streamly]);
  const measurements = [{ key: reportKey(), measurement: measurement.name }];
  await ok(patch(exchange, acme, report.name, { etag: report.etag, measurements }));
  await end(exchange, streamly, measurement);
  expect(await reportChanges(token, 3)).toEqual(['PLANNED 1', 'RUNNING 2', 'COMPLETE 3']);
  await ok(remove(exchange, acme, report.name));
  expect(await reportChanges(token, 4)).toEqual(['PLANNED 1', 'RUNNING 2', 'COMPLETE 3', 'DELETED 4']);
  const { changes } = await get(
    exchange,
    acme,
    `${acme.name}/changes?pageToken=${token}&filter.kinds=REPORT`,
  );
  expect(changes).toHaveLength(4);
  expect(changes.every(({ name }: { name: string }) => name === report.name)).toBe(true);
});

it('a report gets a new version only when its state changes, not when each measurement ends', async () => {
  const measurements = [];
  for (let i = 0; i < 6; i++) measurements.push(await createMeasurement(exchange, acme, [streamly]));
  const token = await tokenNow(exchange, acme);
  await createReport(exchange, acme, measurements);
  // A running report waits for one measurement: the last pending one in its list. End the measurements in reverse
  // order, so that the report must wait for another measurement each time.
  for (const measurement of measurements.toReversed()) {
    await end(exchange, streamly, measurement);
    await settled();
  }
  expect(await reportChanges(token, 2)).toEqual(['RUNNING 1', 'COMPLETE 2']);
});

it('all 60 reports of one measurement are logged as INCOMPLETE after it is cancelled', async () => {
  const measurement = await createMeasurement(exchange, acme, [streamly]);
  const token = await tokenNow(exchange, acme);
  for (let i = 0; i < 60; i++) await createReport(exchange, acme, [measurement]);
  await ok(post(exchange, acme, `${measurement.name}:cancel`));
  const lines = await reportChanges(token, 120);
  expect(lines.filter((line) => line === 'INCOMPLETE 2')).toHaveLength(60);
});

it('a report becomes INCOMPLETE in the change log when retention removes its measurements', async () => {
  const measurements = [await succeeded(exchange, acme, streamly), await succeeded(exchange, acme, streamly)];
  const token = await tokenNow(exchange, acme);
  const report = await createReport(exchange, acme, measurements);
  expect(report.state).toBe('COMPLETE');
  const db = new Database({
    connection: { connectionString: exchange.database.url },
    applicationName: 'test',
  });
  onTestFinished(() => db.close());
  const later = { db, clock: (): Timestamp => timestampOf(Date.now() + 100 * DAY_MS) };
  while (await applyRetention(later, { removeTerminalAfterDays: 30 }));
  expect(await stateOf(exchange, acme, report)).toBe('INCOMPLETE');
  expect(await reportChanges(token, 2, report)).toEqual(['COMPLETE 1', 'INCOMPLETE 2']);
  expect((await get(exchange, acme, report.name)).measurements).toEqual(report.measurements);
});

async function settled(): Promise<void> {
  const query = `SELECT FROM reports r LEFT JOIN measurements m ON m.id = r.waiting_for
    WHERE r.waiting_for IS NOT NULL AND m.state IS DISTINCT FROM 'AWAITING_REQUISITION_FULFILLMENT'`;
  const isSettled = async () => (await exchange.database.query(query)).length === 0;
  await vi.waitUntil(isSettled, { timeout: 20_000, interval: 10 });
}
