/**
 * Tests an agent whose events are on a PostgreSQL server that is sometimes down. Also checks that the agent's log
 * contains no secrets.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { DAYS, PEOPLE } from '@measurement-exchange/testkit/providerWorld';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { type Events, openEvents } from '../../src/provider/index.ts';
import { type FaultyProxy, startProxy } from '../sources/postgresFaultyServer.ts';
import { type LoadedTable, loadTable } from '../sources/postgresTables.ts';
import { type AgentWorld, EXACT, startAgentWorld } from './agentWorld.ts';

const PASSWORD = 'pw-7f31c09e';
/**
 * The first VID. The tests check that the log does not contain the first six digits of this VID, so no other number in
 * the log may contain these digits.
 */
const FIRST_VID = 731_000_000;
const FILTER = 'age < 4711';

let world: AgentWorld;
let table: LoadedTable;
let proxy: FaultyProxy;
let events: Events;
const warnings: string[] = [];

beforeAll(async () => {
  world = await startAgentWorld();
  table = await loadTable(inject('serverUrl'), eventsTable());
  proxy = await startProxy(() => inject('serverUrl'));
  events = await openEvents({
    source: { ...table.source, url: proxied(), password: async () => PASSWORD },
    onWarning: (message) => warnings.push(message),
  });
});
beforeEach(() => world.begin());
afterEach(() => {
  proxy.treatment = 'PASS';
  proxy.onConnection = undefined;
  expect(world.end()).toEqual([]);
});
afterAll(async () => {
  await events.close();
  await proxy.stop();
  await table.remove();
  expect(await world.stop()).toEqual([]);
});

function proxied(): string {
  const url = new URL(table.source.url);
  return `postgres://127.0.0.1:${proxy.port}${url.pathname}`;
}

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

const retries = () => world.types().filter((type) => type === 'retrying').length;

it('an agent charges once, before its first read, even if the PostgreSQL server is down at first', async () => {
  const measurement = await world.ask({ privacy: { epsilon: 1e5, delta: 0 }, filter: FILTER });
  const { name } = await world.requisitionOf(measurement);
  const chargedAtRead: boolean[] = [];
  proxy.onConnection = () => chargedAtRead.push(world.ledger.isCharged(name));
  proxy.treatment = 'CLOSE';
  const done = world.runUntilClosed(world.agent({ events }), measurement);
  while (retries() < 1) await sleep(10);
  expect(world.spent()).toEqual([1e5, 1e5, 1e5]);
  proxy.treatment = { cutAfter: 300 };
  while (retries() < 2) await sleep(10);
  proxy.treatment = 'PASS';
  const result = await world.consumer.open(await done);
  expect(result.dataProviders[0]!.reach!.value).toBe(PEOPLE);
  expect(world.spent()).toEqual([1e5, 1e5, 1e5]);
  expect(chargedAtRead.length).toBeGreaterThanOrEqual(3);
  expect(chargedAtRead).not.toContain(false);
});

it('an agent logs why it retries, without a password, a filter value or a VID', async () => {
  const measurement = await world.ask({ privacy: EXACT, filter: FILTER });
  proxy.treatment = 'CLOSE';
  const done = world.runUntilClosed(world.agent({ events }), measurement);
  while (retries() < 1) await sleep(10);
  proxy.treatment = 'PASS';
  await done;
  const logged = JSON.stringify([world.log, warnings]);
  expect(logged).toContain('PostgreSQL cannot be reached: the connection was cut');
  expect(warnings).toContain('1 events have no VID and were left out.');
  for (const secret of [PASSWORD, '4711', String(FIRST_VID).slice(0, 6)])
    expect(logged).not.toContain(secret);
});

it('openEvents() does not repeat the error message of a hostile server', async () => {
  const echo = createServer((socket) => {
    // This server asks for the password in clear text, and then quotes the password in an error message.
    socket.once('data', () => {
      socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      socket.once('data', (sent) => {
        const fields = `SFATAL\0VFATAL\0C28P01\0M${sent.subarray(5, -1)}\0D${sent.subarray(5, -1)}\0\0`;
        const length = Buffer.alloc(4);
        length.writeInt32BE(4 + Buffer.byteLength(fields));
        socket.end(Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)]));
      });
    });
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const url = `postgres://127.0.0.1:${(echo.address() as AddressInfo).port}/ads`;
  const error = await openEvents({ source: { ...table.source, url, password: async () => PASSWORD } }).catch(
    (reason) => reason,
  );
  echo.close();
  expect(error.message).toBe('PostgreSQL rejects the password of the account: correct it.');
  expect(`${error.stack}${JSON.stringify(error)}${error.cause}`).not.toContain(PASSWORD);
});

it('openEvents() sends no password to a server without TLS if TLS is required', async () => {
  const sent: Buffer[] = [];
  const plain = createServer((socket) => {
    socket.on('data', (bytes) => {
      sent.push(bytes);
      socket.write('N');
    });
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const url = `postgres://127.0.0.1:${(plain.address() as AddressInfo).port}/ads`;
  const source = { ...table.source, url, password: async () => PASSWORD, ca: world.root.certificatePem };
  await expect(openEvents({ source })).rejects.toThrow(
    'PostgreSQL cannot be reached: it does not speak TLS: set ssl = on in its configuration.',
  );
  plain.close();
  expect(Buffer.concat(sent).toString()).not.toContain(PASSWORD);
});
