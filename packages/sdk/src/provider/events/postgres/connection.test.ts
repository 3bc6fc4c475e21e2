import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import pg, { type ClientConfig } from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { connectOf, type PostgresSource, tableName } from './connection.ts';

const SOURCE: PostgresSource = {
  kind: 'postgres',
  url: 'postgres://warehouse.internal/ads',
  table: 'ads.impressions',
  user: 'reader',
};

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Connects the driver to a server that asks for a password in plain text, and returns the password. */
async function passwordSent(config: ClientConfig): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.from('R\0\0\0\x08\0\0\0\x03'));
      // The response is a type, four bytes for the length, and the password with a zero byte.
      socket.once('data', (message) => {
        resolve(message.toString('utf8', 5, message.length - 1));
        socket.destroy();
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new pg.Client({ ...config, host: '127.0.0.1', port, ssl: false });
  await expect(client.connect()).rejects.toThrow();
  server.close();
  return promise;
}

describe('the settings of the server', () => {
  it('require TLS with a verified certificate on another machine', async () => {
    expect(await connectOf(SOURCE)()).toEqual({
      host: 'warehouse.internal',
      port: 5432,
      database: 'ads',
      user: 'reader',
      password: expect.any(Function),
      ssl: { rejectUnauthorized: true, minVersion: 'TLSv1.2', servername: 'warehouse.internal' },
    });
    const { ssl } = await connectOf({ ...SOURCE, url: 'postgres://10.0.0.7/ads', ca: 'PEM' })();
    expect(ssl).toEqual({ rejectUnauthorized: true, minVersion: 'TLSv1.2', ca: 'PEM' });
  });

  it.each([
    ['postgres://localhost:6543/ads', 'localhost', 6543],
    ['postgres://[::1]/ads', '::1', 5432],
    ['postgres:///ads?host=/run/postgresql', '/run/postgresql', 5432],
    ['postgres://%2Frun%2Fpostgresql:5433/ads', '/run/postgresql', 5433],
  ])('need no TLS on this machine: %s', async (url, host, port) => {
    expect(await connectOf({ ...SOURCE, url })()).toMatchObject({ host, port, ssl: false });
  });

  it('read the password again for each connection', async () => {
    let asked = 0;
    const connect = connectOf({ ...SOURCE, password: async () => `secret${++asked}` });
    await connect();
    expect(await passwordSent(await connect())).toBe('secret2');
  });

  it.each([[undefined], [async () => '']])(
    'do not let the driver use the password of PGPASSWORD',
    async (password) => {
      vi.stubEnv('PGPASSWORD', 'of another database');
      expect(await passwordSent(await connectOf({ ...SOURCE, password })())).toBe('');
    },
  );

  it('report only the code of the error if the password cannot be read', async () => {
    const password = () => Promise.reject(Object.assign(new Error('open /secret/x'), { code: 'ENOENT' }));
    await expect(connectOf({ ...SOURCE, password })()).rejects.toThrow(
      'The password of events.source cannot be read (ENOENT): correct its file or variable.',
    );
  });

  it.each<[Partial<PostgresSource>, string]>([
    [{ url: 'warehouse' }, 'events.source.url must be like postgres://'],
    [{ url: 'mysql://warehouse/ads' }, 'events.source.url must be like postgres://'],
    [{ url: 'postgres://reader:pw@warehouse/ads' }, 'events.source.url must have no user and no password'],
    [{ url: 'postgres://warehouse' }, 'events.source.url must name a host and a database'],
    [{ url: 'postgres://warehouse/ads?sslmode=disable' }, 'may have the parameters host and port only'],
    [{ user: '' }, 'events.source.user is missing'],
  ])('are rejected, without the password in the error: %j', (changes, message) => {
    const error = (() => {
      try {
        connectOf({ ...SOURCE, ...changes });
      } catch (reason) {
        return reason as Error;
      }
    })();
    expect(error?.message).toContain(message);
    expect(error?.message).not.toContain('pw');
  });
});

it('tableName quotes the schema and the table, and rejects invalid names', () => {
  expect(tableName('impressions')).toBe('"public"."impressions"');
  expect(tableName('ads.Impressions$1')).toBe('"ads"."Impressions$1"');
  for (const table of ['', 'a.b.c', 'a b', 'a;DROP TABLE b', '"a"', '1a', 'a.']) {
    expect(() => tableName(table)).toThrow('events.source.table must be the name of a table');
  }
});
