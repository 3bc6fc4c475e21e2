import { describe, expect, it } from 'vitest';
import { connectOf, type PostgresSource, tableName } from './connection.ts';

const SOURCE: PostgresSource = {
  kind: 'postgres',
  url: 'postgres://warehouse.internal/ads',
  table: 'ads.impressions',
  user: 'reader',
};

describe('the settings of the server', () => {
  it('require TLS with a verified certificate on another machine', async () => {
    expect(await connectOf(SOURCE)()).toEqual({
      host: 'warehouse.internal',
      port: 5432,
      database: 'ads',
      user: 'reader',
      password: '',
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

  it('ask for the password with each connection', async () => {
    let asked = 0;
    const connect = connectOf({ ...SOURCE, password: async () => `secret${++asked}` });
    await connect();
    expect(await connect()).toMatchObject({ password: 'secret2' });
  });

  it('tell that the password cannot be read, and nothing else', async () => {
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
  ])('are refused: %j', (changes, message) => {
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

it('quotes the name of the table', () => {
  expect(tableName('impressions')).toBe('"public"."impressions"');
  expect(tableName('ads.Impressions$1')).toBe('"ads"."Impressions$1"');
  for (const table of ['', 'a.b.c', 'a b', 'a;DROP TABLE b', '"a"', '1a', 'a.']) {
    expect(() => tableName(table)).toThrow('events.source.table must be the name of a table');
  }
});
