/**
 * Tests the API keys of a measurement consumer: creating a key, calling gRPC with it, listing keys without their
 * secrets, and deleting a key.
 */
import { Measurements } from '@measurement-exchange/contract/rpc';
import { clientOf, failureOf } from '@measurement-exchange/testkit/rpc';
import { castOf } from '@measurement-exchange/testkit/steps';
import { useWorld } from '@measurement-exchange/testkit/world';
import { expect, it } from 'vitest';
import { useEnvironment } from './environment.ts';
import { lines, run } from './mexInProcess.ts';

const w = useWorld();
useEnvironment(() => w.exchange);

const apiKeys = (...words: string[]) => run('api-keys', ...words, '--as', 'acme');
const DAY_MS = 24 * 3600_000;

it('mex api-keys prints a key only when it creates it, and gRPC accepts the key until it is deleted', async () => {
  expect((await apiKeys('list')).out).toContain('has no API key: mex api-keys create');
  const { out } = await apiKeys('create', 'Nightly report', '--description', 'on the build server');
  const [, name, key] = /^(\S+) is made\. .*shown only now:\n\n {2}(mex_\S+)\n\nKeep it .*x-api-key/.exec(
    out,
  )!;
  const id = name!.split('/').at(-1)!;
  const { acme } = castOf(w.exchange);
  const list = () =>
    clientOf(w.exchange.dev, Measurements, { headers: { 'x-api-key': key! } }).listMeasurements({
      parent: acme.name,
    });
  await list();

  const listed = (await apiKeys('list')).out;
  expect(listed).toMatch(new RegExp(`^${id} +\\S+ \\S+ +Nightly report +on the build server$`, 'm'));
  expect(listed + (await apiKeys('list', '--json')).out).not.toContain(key!.slice(4));
  expect((await apiKeys('delete', id)).out).toContain(`${name} is deleted:`);
  expect(await failureOf(list())).toBe('unauthenticated TOKEN_INVALID');
  expect((await apiKeys('delete', id)).error?.message).toContain('(API_KEY_NOT_FOUND)');
});

it('mex api-keys create --days creates a key for that many days, and --json prints it as JSON', async () => {
  const { out } = await apiKeys('create', 'Short', '--days', '7', '--json');
  const { createTime, expireTime, authenticationKey, displayName } = JSON.parse(out);
  expect((Date.parse(expireTime) - Date.parse(createTime)) / DAY_MS).toBeCloseTo(7, 2);
  expect([displayName, authenticationKey]).toEqual(['Short', expect.stringMatching(/^mex_/)]);
  expect(lines((await apiKeys('list', '--json')).out)).toMatchObject([{ displayName: 'Short' }]);
  expect((await apiKeys('create', 'Long', '--days', '400')).error?.message).toMatch(
    /expireTime: must be within a year/,
  );
  expect((await apiKeys('create', 'Never', '--days', '0')).err).toContain('a whole number above 0');
});

it('mex api-keys lets the operator create, list and delete keys of a consumer, and requires --consumer', async () => {
  const { out } = await run('api-keys', 'create', 'For Globex', '--consumer', 'globex', '--json');
  const { name } = JSON.parse(out);
  expect(name).toMatch(/^measurementConsumers\/globex\/apiKeys\//);
  const list = () => run('api-keys', 'list', '--consumer', 'measurementConsumers/globex', '--json');
  expect(lines((await list()).out).map((key) => key.name)).toEqual([name]);
  await run('api-keys', 'delete', name);
  expect((await list()).out).toBe('');
  for (const words of [['list'], ['create', 'x'], ['list', '--as', 'streamly']]) {
    expect((await run('api-keys', ...words)).error?.message).toMatch(
      /^mex api-keys is for a measurement consumer, and you call as /,
    );
  }
});
