/** Starts an OpenID provider and an exchange that trusts it, and creates a folder for profiles. */
import { rm, writeFile } from 'node:fs/promises';
import { startExchange, type TestExchange } from '@measurement-exchange/testkit/exchange';
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest';
import { divertNotes } from '../src/terminal/output.ts';
import { path, useEnvironment } from './environment.ts';
import { browse } from './fetchBrowser.ts';
import { mex, type Ran, run } from './mexInProcess.ts';
import { AGENT, CLIENT, DUCHY, SECRET, startProvider, type TestProvider } from './openIdProvider.ts';

export let provider: TestProvider;
export let exchange: TestExchange;

/** Starts the provider and the exchange for the tests of one file. Call this function once, at the top of the file. */
export function useSignIn(): void {
  beforeAll(async () => {
    provider = await startProvider();
    const issuer = {
      issuer: provider.url,
      audience: CLIENT,
      jwksUri: `${provider.url}/jwks`,
      clients: [AGENT, DUCHY],
    };
    exchange = await startExchange({ issuers: [issuer] });
  });
  afterAll(async () => {
    expect(await exchange.stop()).toEqual([]);
    await provider.stop();
  });
  useEnvironment(() => exchange);
  beforeAll(() => writeFile(path('secret'), `${SECRET}\n`));
  beforeEach(() => {
    vi.stubEnv('XDG_CONFIG_HOME', path('config'));
    vi.stubEnv('MEX_PROFILE', undefined);
    provider.lifetime = 3600;
    provider.grants.length = 0;
  });
  afterEach(() => rm(path('config'), { recursive: true, force: true }));
}

/** Binds a subject of the provider to a demo party. */
export async function bind(subject: string, party: string): Promise<void> {
  const { operator } = exchange.dev;
  await mex(
    ...['admin', 'principals', 'bind', party, '--issuer', provider.url, '--subject', subject],
    ...['--url', exchange.url, '--token', operator.token],
  );
}

export const settings = () => ['--url', exchange.url, '--issuer', provider.url, '--client-id', CLIENT];

/** Runs `mex login` and calls `visit` with the address that the command prints. */
export async function login(
  visit: (address: string) => Promise<unknown>,
  ...args: string[]
): Promise<Ran & { notes: string; visited: unknown }> {
  const notes: string[] = [];
  let visited: Promise<unknown> | undefined;
  const restore = divertNotes((text) => {
    notes.push(text);
    const [, address] = /^Sign in at .*\n {2}(\S+)/.exec(text) ?? [];
    if (address !== undefined) visited = visit(address).catch((error) => error);
  });
  try {
    const ran = await run(...args);
    return { ...ran, notes: notes.join('\n'), visited: await visited };
  } finally {
    restore();
  }
}

export const as = (name: string) => (address: string) => browse(address, { name });
