import { expect, it } from 'vitest';
import type { Database, Statement } from '../database/db.ts';
import { watchDatabase } from './gauges.ts';
import { Metrics } from './metrics.ts';

const NOW = '2026-11-17T12:00:00.000000Z';

it('exports pool connections, expiring certificates by kind of party, pending cascades, and watchers', async () => {
  const asked = new Map<string, unknown[]>();
  const rows: Record<string, unknown[]> = {
    certificate_count_expiring: [
      { collection: 'dataProviders', n: 3 },
      { collection: 'measurementConsumers', n: 2 },
    ],
    cascade_count: [{ n: 7 }],
    changes_horizon: [{ xid: '5', isHeld: false }],
  };
  const query = async ({ name }: Statement<unknown>, values: unknown[]) => {
    asked.set(name, values);
    return rows[name]!;
  };
  const pool = { totalCount: 5, idleCount: 1, waitingCount: 3 };
  const metrics = new Metrics();
  const db = { query, pool } as unknown as Database;
  watchDatabase(metrics, { db, clock: () => NOW, feed: { followers: 11 } });
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('mex_'));
  expect(lines.filter((line) => !/^mex_(requests|transaction|webhook_lag)/.test(line))).toEqual([
    'mex_pool_connections{state="idle"} 1',
    'mex_pool_connections{state="busy"} 4',
    'mex_pool_connections{state="waiting"} 3',
    'mex_certificates_expiring{kind="measurementConsumer"} 2',
    'mex_certificates_expiring{kind="dataProvider"} 3',
    'mex_certificates_expiring{kind="duchy"} 0',
    'mex_revocation_cascades_pending 7',
    'mex_changes_watchers 11',
    'mex_changes_horizon_seconds 0',
  ]);
  expect(asked.get('certificate_count_expiring')).toEqual([NOW, 30]);
});
