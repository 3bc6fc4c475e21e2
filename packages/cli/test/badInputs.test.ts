/**
 * Tests bad inputs. Each command prints one clear message that says what to do, and creates, changes and charges
 * nothing.
 */
import { generateKeyPairSync } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { Script } from 'node:vm';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { stored } from '@measurement-exchange/testkit/steps';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { errorText, exitCodeOf } from '../src/terminal/errorReport.ts';
import { BAD_INPUTS } from './badInputs.ts';
import { run } from './mexInProcess.ts';
import { path, useWorld, w } from './partyWorld.ts';

useWorld();

const servers: Server[] = [];
/** The contents of all tables of the exchange before the first test. Bad inputs must not change them. */
let before: Awaited<ReturnType<typeof stored>>;
/** The values that replace the capitalized words in the table of bad inputs. */
let words: Record<string, string>;

async function listening(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return String((server.address() as AddressInfo).port);
}

beforeAll(async () => {
  const page = await listening(
    createServer((_, response) => response.setHeader('content-type', 'text/html').end('<h1>Hello</h1>')),
  );
  // This server needs no certificate, because it closes the connection when it receives plaintext HTTP.
  const tls = await listening(createTlsServer());
  const gone = createServer();
  const away = await listening(gone);
  await new Promise((resolve) => gone.close(resolve));
  const { dataDir, url, database } = w.exchange;
  const issuer = await createDevIssuer({ keyFile: devKeyFile(dataDir), baseUrl: url });
  const databaseUrl = (change: (url: URL) => void) => {
    const changed = new URL(database.url);
    change(changed);
    return changed.href;
  };
  await database.query(
    `DO $$ BEGIN CREATE ROLE mex_without_grants LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
  );
  words = {
    FOLDER: path('.').replace(/\/$/, ''),
    AWAY: `http://127.0.0.1:${away}`,
    PLAIN_AS_HTTPS: url.replace('http:', 'https:'),
    TLS_AS_HTTP: `http://127.0.0.1:${tls}`,
    PAGE: `http://127.0.0.1:${page}`,
    TAKEN: page,
    STRANGER: await issuer.mint('dataProviders/stranger'),
    EXPIRED: await issuer.mint('dataProviders/streamly', -60),
    NO_DATABASE: databaseUrl((to) => {
      to.pathname = '/mex_no_such_database';
    }),
    NO_ROLE: databaseUrl((to) => {
      to.username = 'mex_nobody';
    }),
    NO_GRANTS: databaseUrl((to) => {
      to.username = 'mex_without_grants';
    }),
  };
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const files = {
    empty: '',
    text: 'This is no JSON, no certificate and no keyset.',
    'list.json': '[]',
    'columns.csv': 'a,b\n1,2\n',
    'half.json': '{"type": "reach"}',
    'segments.json': '{"segments": {"tv": {"eventGroups": ["no provider"]}}}',
    'key.pem': privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    'cut.pem': '-----BEGIN CERTIFICATE-----\nMIIB',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(path(name), text);
  // Use an empty folder for profiles, so that the profiles of the user who runs the tests have no effect.
  vi.stubEnv('XDG_CONFIG_HOME', path('config'));
  before = await stored(w.exchange);
});
afterAll(() => {
  for (const server of servers) server.close();
});
afterEach(() => {
  process.exitCode = undefined;
});

const filled = (text: string) => text.replace(/\b[A-Z]+(?:_[A-Z]+)*\b/g, (word) => words[word] ?? word);

/** Runs `mex …` in this process, and returns the error text and the exit code that a separate process would produce. */
async function mex(args: string[], env: Record<string, string> = {}) {
  const was = Object.keys(env).map((name) => [name, process.env[name]] as const);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, filled(value));
  const { out, err, error } = await run(...args.map(filled));
  const text = error === undefined ? '' : errorText(error, args.includes('--json'));
  for (const [name, value] of was) vi.stubEnv(name, value);
  return { out, err: err + text, code: error === undefined ? 0 : exitCodeOf(error) };
}

const files = () => readdir(path('.'), { recursive: true });

it(`the table of bad inputs has at least 60 rows: ${BAD_INPUTS.length}`, () => {
  expect(BAD_INPUTS.length).toBeGreaterThanOrEqual(60);
});

it.each(BAD_INPUTS.map((row) => ({ ...row, command: row.args.join(' ') })))(
  'mex $command fails with one short message and creates no files',
  async ({ args, says, env, code = 1 }) => {
    const earlier = await files();
    const ran = await mex(args, env);
    expect(ran).toEqual({ out: '', err: expect.stringMatching(says), code });
    // The error must be one short message, without a stack and without unfilled values.
    expect(ran.err).not.toMatch(/^ {4}at |undefined|\[object|NaN|\bnull\b/m);
    expect(ran.err.trim().split('\n').length).toBeLessThanOrEqual(5);
    expect(await files()).toEqual(earlier);
  },
);

it('an outdated Node can parse mex.mjs, which names the version that it needs', async () => {
  const text = await readFile(new URL('../src/mex.mjs', import.meta.url), 'utf8');
  // Parse the file as a script, which cannot contain static imports or a top-level await. A script cannot contain
  // import.meta either. Replace import.meta.url first, because outdated versions of Node can parse it in a module.
  expect(() => new Script(text.replace('import.meta.url', '""'))).not.toThrow();
  expect(text).toContain('Install Node 24');
});

it('the bad inputs change nothing in the database of the exchange', async () => {
  expect(await stored(w.exchange)).toEqual(before);
});

it.each([
  [
    ['measurements', 'list', '--limit', '0'],
    { code: 'USAGE', reason: 'INVALID_ARGUMENT', fields: [{ field: '--limit', description: /above 0/ }] },
  ],
  [['measurements', 'lst'], { code: 'USAGE', reason: 'UNKNOWN_COMMAND', message: /Did you mean list/ }],
  [['whoami', '--token', 'garbage'], { code: 'UNAUTHENTICATED', reason: 'TOKEN_INVALID', fields: [] }],
  [
    ['webhooks', 'create', 'ftp://x/', '--as', 'acme'],
    { code: 'INVALID_ARGUMENT', fields: [{ field: 'url', description: /https URL/ }] },
  ],
  [['whoami', '--url', 'AWAY', '--token', 't'], { code: 'LOCAL', reason: 'ECONNREFUSED' }],
  [['serve', '--dev', '--port', 'TAKEN'], { code: 'LOCAL', reason: 'EADDRINUSE', message: /is in use/ }],
  [
    ['requisitions', 'list', '--as', 'acme'],
    { code: 'LOCAL', reason: 'FAILED', message: /Which measurement/ },
  ],
])('with --json, mex %j prints its error as one line of JSON', async (args, expected) => {
  const { out, err, code } = await mex([...args, '--json']);
  expect([out, code]).toEqual(['', 1]);
  expect(err).toMatch(/^\{.*\}\n$/);
  expect(JSON.parse(err)).toMatchObject(matching(expected) as object);
});

/** Returns a copy of an expected value, in which each regular expression is replaced with a matcher for strings. */
function matching(value: unknown): unknown {
  if (value instanceof RegExp) return expect.stringMatching(value);
  if (Array.isArray(value)) return value.map(matching);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, matching(member)]));
}
