import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { Random } from '../random.ts';
import { proxied, targetOf } from './links.ts';
import { readPostgres } from './postgresWire.ts';
import { ChaosProxy } from './proxy.ts';

const always = () => true;

function message(type: string, ...texts: string[]): Buffer {
  const body = Buffer.from(texts.map((text) => `${text}\0`).join(''));
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function startup(code: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeInt32BE(8);
  bytes.writeInt32BE(code, 4);
  return bytes;
}

const PROTOCOL_3 = 196608;

describe('the reader of PostgreSQL messages', () => {
  test('finds simple and prepared COMMITs in chunks of any size, and keeps every byte', () => {
    const stream = [
      startup(PROTOCOL_3),
      message('Q', 'BEGIN'),
      message('P', 's', 'commit ;'),
      message('P', 't', "SELECT 'COMMIT'"),
      message('B', 'p', 's'),
      message('B', 'q', 't'),
      message('E', 'q'),
      message('E', 'p'),
      message('Q', ' COMMIT;'),
      message('Q', 'COMMIT PREPARED 1'),
      message('Q', 'ROLLBACK'),
    ];
    const all = Buffer.concat(stream);
    for (const step of [1, 7, all.length]) {
      const { toServer } = readPostgres();
      const pieces = [];
      for (let at = 0; at < all.length; at += step) pieces.push(...toServer(all.subarray(at, at + step)));
      expect(Buffer.concat(pieces.map(({ bytes }) => bytes))).toEqual(all);
      const commits = pieces.filter(({ commit }) => commit).map(({ bytes }) => bytes);
      expect(commits).toEqual([stream[7], stream[8]]);
    }
  });

  test('finds only a COMMIT response, not the ROLLBACK response of a failed transaction', () => {
    const { toClient } = readPostgres();
    const responses = [message('C', 'INSERT 0 1'), message('C', 'ROLLBACK'), message('C', 'COMMIT')];
    const pieces = toClient(Buffer.concat([...responses, message('Z', 'I')]));
    expect(pieces.filter(({ commit }) => commit).map(({ bytes }) => bytes)).toEqual([responses[2]]);
  });

  test('does not interpret encrypted bytes', () => {
    const { toServer, toClient } = readPostgres();
    expect(toServer(startup(80877103))).toHaveLength(1);
    const noise = message('Q', 'COMMIT');
    expect(toServer(noise)).toEqual([{ bytes: noise, commit: false }]);
    expect(toClient(Buffer.from('S'))).toEqual([{ bytes: Buffer.from('S'), commit: false }]);
  });
});

describe('a COMMIT through the proxy', () => {
  let proxy: ChaosProxy;
  let direct: pg.Client;
  const table = `commits_${process.pid}`;

  beforeAll(async () => {
    const url = inject('serverUrl');
    proxy = await ChaosProxy.start({ random: new Random(1), postgres: true }, targetOf(url));
    direct = new pg.Client({ connectionString: url });
    await direct.connect();
    await direct.query(`CREATE TABLE ${table} (n int)`);
  });

  afterEach(() => proxy.clear());

  afterAll(async () => {
    await direct.query(`DROP TABLE ${table}`);
    await direct.end();
    await proxy.stop();
  });

  async function insert(n: number, commit: string | pg.QueryConfig): Promise<string> {
    const client = new pg.Client({ connectionString: proxied(inject('serverUrl'), proxy) });
    client.on('error', () => {});
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query(`INSERT INTO ${table} VALUES ($1)`, [n]);
      return (await client.query(commit)).command;
    } finally {
      await client.end();
    }
  }

  const stored = async (n: number) => (await direct.query(`SELECT FROM ${table} WHERE n = $1`, [n])).rowCount;

  test('without a fault gets its response', async () => {
    expect(await insert(1, 'COMMIT')).toBe('COMMIT');
    expect(await stored(1)).toBe(1);
  });

  test.each([
    ['a simple query', 10, 'COMMIT'],
    ['a prepared statement', 11, { name: 'end', text: 'COMMIT' }],
  ])('takes effect even if its response is dropped: %s', async (_how, n, commit) => {
    const before = proxy.drops;
    await proxy.impose({ kind: 'dropAfterCommit', chance: always });
    await expect(insert(n, commit)).rejects.toThrow(/ECONNRESET|terminated/);
    expect(proxy.drops).toBe(before + 1);
    expect(await stored(n)).toBe(1);
  });

  test('has no effect if it is dropped before the server receives it', async () => {
    await proxy.impose({ kind: 'dropBeforeCommit', chance: always });
    await expect(insert(20, 'COMMIT')).rejects.toThrow(/ECONNRESET|terminated/);
    expect(await stored(20)).toBe(0);
  });

  test('gets its response if the fault does not select it', async () => {
    await proxy.impose({ kind: 'dropAfterCommit', chance: () => false });
    expect(await insert(30, 'COMMIT')).toBe('COMMIT');
  });
});
