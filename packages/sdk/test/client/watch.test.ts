/** Following changes of a running exchange over connections that are cut. */
import type { Change } from '@measurement-exchange/contract';
import { expect, it, vi } from 'vitest';
import { type ClientOptions, createClient, ExchangeError } from '../../src/index.ts';
import { cast, create, exchange, requisitionOf, useExchange } from './world.ts';

useExchange();

const { now } = Date;
/** Backoffs take no time. */
const clock = { now, sleep: async () => {} };
const following = (fetch: ClientOptions['fetch'] = globalThis.fetch) =>
  createClient({ baseUrl: exchange.url, token: cast.streamly.token, fetch, clock, maxAttempts: 1 });

const describe = ({ name, version }: { name?: string; version: number }) => `${name} ${version}`;

/** The first so many. */
async function take(changes: AsyncIterable<Change>, count: number): Promise<string[]> {
  const taken: string[] = [];
  for await (const change of changes) {
    taken.push(describe(change));
    if (taken.length === count) break;
  }
  return taken;
}
const parent = () => cast.streamly.name;
const requisitions = { 'filter.kinds': ['REQUISITION' as const] };

async function createOne(): Promise<string> {
  return describe({ ...(await requisitionOf(cast.streamly, await create([cast.streamly]))), version: 1 });
}

/** What is made after the first token, and what was followed of it. */
async function follow(client: ReturnType<typeof following>, count: number) {
  const { promise: beginning, resolve: onToken } = Promise.withResolvers<string>();
  const taken = take(client.watch({ parent: parent(), ...requisitions, onToken }), count);
  await beginning;
  const made: string[] = [];
  for (let i = 0; i < count; i++) made.push(await createOne());
  return { taken: await taken, made };
}

it('gives each change once and in order, from now on', async () => {
  const { taken, made } = await follow(following(), 4);
  expect(taken).toEqual(made);
});

it('goes on where it was after responses that were lost, cut or not the exchange’s', async () => {
  let calls = 0;
  const broken: ClientOptions['fetch'] = async (...args) => {
    const response = await fetch(...args);
    switch (calls++ % 4) {
      case 1:
        throw new TypeError('fetch failed');
      case 2:
        return new Response((await response.text()).slice(0, 20), response);
      case 3:
        return new Response('<html>Bad Gateway</html>', { status: 502 });
      default:
        return response;
    }
  };
  const { taken, made } = await follow(following(broken), 6);
  expect(taken).toEqual(made);
  expect(calls).toBeGreaterThan(4);
});

it('resumes from a token, without what was taken before it and with all that came after', async () => {
  const stop = new AbortController();
  let token = '';
  const onToken = (given: string) => {
    token = given;
  };
  const args = { parent: parent(), ...requisitions, onToken };
  const watched = following().watch({ ...args, signal: stop.signal });
  const first = watched.next();
  const started = await vi.waitUntil(() => token);
  const made = [await createOne()];
  expect(describe((await first).value!)).toBe(made[0]);
  const second = watched.next();
  await vi.waitUntil(() => token !== started);
  stop.abort();
  await expect(second).rejects.toThrow('aborted');
  made.push(await createOne(), await createOne());
  expect(await take(following().watch({ ...args, pageToken: token }), 2)).toEqual(made.slice(1));
  expect(await take(following().watch({ ...args, pageToken: started }), 3)).toEqual(made);
});

it('throws what does not pass, and ends with its signal', async () => {
  const others = following().watch({ parent: cast.chirper.name });
  await expect(others.next()).rejects.toThrow(ExchangeError);
  const stop = new AbortController();
  const waiting = following().watch({ parent: parent(), signal: stop.signal, onToken: () => stop.abort() });
  await expect(waiting.next()).rejects.toThrow('aborted');
});
