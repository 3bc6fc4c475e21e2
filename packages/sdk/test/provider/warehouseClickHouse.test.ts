/**
 * Tests an agent whose events are on a ClickHouse server that is sometimes down. Also checks that the agent's log
 * contains no secrets.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { skipped } from '@measurement-exchange/testkit/clickhouse/server';
import { DAYS, PEOPLE } from '@measurement-exchange/testkit/providerWorld';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Events, openEvents } from '../../src/provider/index.ts';
import { loadTable, testServer } from '../sources/clickhouse.ts';
import { type FaultyProxy, startFaultyProxy } from '../sources/faultyProxy.ts';
import { type AgentWorld, EXACT, startAgentWorld } from './agentWorld.ts';

/**
 * The first VID. The tests check that the log does not contain the first six digits of this VID, so no other number in
 * the log may contain these digits.
 */
const FIRST_VID = 731_000_000;
const FILTER = 'age < 4711';

/** Person v of 1 … PEOPLE has v events and the VID FIRST_VID + v - 1. One more event has no VID. */
function eventsTable() {
  const column = (name: string, type: 'int' | 'string' | 'timestamp') => ({ name, type, nullable: true });
  const at = (n: number) => BigInt(Date.parse(`${DAYS[n % DAYS.length]}T12:00:00Z`)) * 1000n;
  const rows = Array.from({ length: PEOPLE }, (_, i) =>
    Array.from({ length: i + 1 }, (_, n) => [BigInt(FIRST_VID + i), at(n), 'spring', BigInt(i % 80)]),
  );
  return {
    columns: [
      column('vid', 'int'),
      column('timestamp', 'timestamp'),
      column('event_group', 'string'),
      column('age', 'int'),
    ],
    rows: [...rows.flat(), [null, at(0), 'spring', 5n]],
  };
}

describe.skipIf(skipped !== undefined)(
  `an agent with events on ClickHouse (${skipped ?? 'available'})`,
  () => {
    let world: AgentWorld;
    let remove: () => Promise<void>;
    let proxy: FaultyProxy;
    let events: Events;
    let password: string;
    const warnings: string[] = [];
    const retries = () => world.types().filter((type) => type === 'retrying').length;

    beforeAll(async () => {
      world = await startAgentWorld();
      const { server } = await testServer();
      ({ password } = server.reader);
      proxy = await startFaultyProxy(server.url);
      const loaded = await loadTable(eventsTable());
      ({ remove } = loaded);
      events = await openEvents({
        source: { ...loaded.where.source, url: proxy.url },
        onWarning: (message) => warnings.push(message),
      });
    });
    beforeEach(() => world.begin());
    afterEach(() => {
      proxy.fault = undefined;
      expect(world.end()).toEqual([]);
    });
    afterAll(async () => {
      await events?.close();
      await remove?.();
      await proxy?.stop();
      expect(await world.stop()).toEqual([]);
    });

    it('charges once, before its first read, even if the server is down at first', async () => {
      const measurement = await world.ask({ privacy: { epsilon: 1e5, delta: 0 }, filter: FILTER });
      const { name } = await world.requisitionOf(measurement);
      const chargedAtRead: boolean[] = [];
      proxy.fault = ({ response }) => {
        chargedAtRead.push(world.ledger.isCharged(name));
        response.destroy();
      };
      const done = world.runUntilClosed(world.agent({ events }), measurement);
      while (retries() < 1) await sleep(10);
      expect(world.spent()).toEqual([1e5, 1e5, 1e5]);
      proxy.fault = async ({ response, fetch }) => {
        chargedAtRead.push(world.ledger.isCharged(name));
        const body = await fetch();
        response.end(body.subarray(0, body.length / 2));
      };
      while (retries() < 2) await sleep(10);
      proxy.fault = undefined;
      const result = await world.consumer.open(await done);
      expect(result.dataProviders[0]!.reach!.value).toBe(PEOPLE);
      expect(world.spent()).toEqual([1e5, 1e5, 1e5]);
      expect(chargedAtRead.length).toBeGreaterThanOrEqual(2);
      expect(chargedAtRead).not.toContain(false);
    });

    it('logs why it retries, without a password, a filter value or a VID from the error of the server', async () => {
      const measurement = await world.ask({ privacy: EXACT, filter: FILTER });
      proxy.fault = ({ response }) => {
        const said = `${password} ${FILTER} ${FIRST_VID}`;
        response.writeHead(500).end(`Code: 210. DB::Exception: ${said}. (NETWORK_ERROR) ${said}`);
      };
      const done = world.runUntilClosed(world.agent({ events }), measurement);
      while (retries() < 1) await sleep(10);
      proxy.fault = undefined;
      await done;
      const logged = JSON.stringify([world.log, warnings]);
      expect(logged).toContain('The ClickHouse server gave up with NETWORK_ERROR (210).');
      expect(warnings).toContain('1 events have no VID and were left out.');
      for (const secret of [password, '4711', String(FIRST_VID).slice(0, 6)])
        expect(logged).not.toContain(secret);
    });
  },
);
