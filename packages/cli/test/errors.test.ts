/**
 * Runs each family of commands against an exchange that rejects requests, is overloaded, is broken or is unreachable.
 * The command must exit with a code other than 0, print nothing to standard output, and say what to do.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExchangeError, type Reason } from '@measurement-exchange/contract';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { explain } from '../src/terminal/output.ts';
import { mex, run } from './mexInProcess.ts';

interface Answer {
  status: number;
  headers?: Record<string, string>;
  type?: string;
  body: string;
}

const says = (reason: Reason, message: string, headers = {}): Answer => {
  const error = new ExchangeError(reason, message);
  return { status: error.httpStatus, headers, body: JSON.stringify(error) };
};
const json = (body: unknown): Answer => ({ status: 200, body: JSON.stringify(body) });
const page = (status: number): Answer => ({ status, type: 'text/html', body: '<h1>No</h1>' });

let server: Server;
let folder: string;
let url: string;
/** The address of a port on which no server listens. */
let away: string;
/** The stub sends this response to every call that is not in `known`. */
let answer: Answer;
let known: Record<string, Answer>;
/** The waits that the client requested before its retries, in milliseconds. The tests skip the waiting itself. */
let waits: number[];
/** After this many waits, `answer` becomes PERMISSION_DENIED. */
let afterWaits: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-errors-'));
  server = createServer((request, response) => {
    const path = request.url!.replace('/v2alpha/', '').split('?')[0]!;
    const { status, headers = {}, type = 'application/json', body } = known[path] ?? answer;
    response.writeHead(status, { 'content-type': type, ...headers }).end(body);
  });
  url = await listening(server);
  const gone = createServer();
  away = await listening(gone);
  await new Promise((resolve) => gone.close(resolve));
  for (const party of ['measurementConsumers/acme', 'dataProviders/streamly']) {
    await mex('identity', party, '--out', join(folder, party.split('/')[1]!));
  }
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

async function listening(on: Server): Promise<string> {
  await new Promise<void>((resolve) => on.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(on.address() as AddressInfo).port}`;
}

const wait = globalThis.setTimeout;
beforeEach(() => {
  vi.stubEnv('MEX_DATA_DIR', folder);
  vi.stubEnv('MEX_URL', url);
  known = {};
  waits = [];
  afterWaits = Number.POSITIVE_INFINITY;
  vi.stubEnv('MEX_TOKEN', 'stub');
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms?: number, ...args: []) => {
    if (!new Error().stack!.includes('client/clock.ts')) return wait(work, ms, ...args);
    waits.push(ms!);
    if (waits.length === afterWaits) answer = says('PERMISSION_DENIED', 'No.');
    return wait(work, 0);
  }) as typeof setTimeout);
});
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
});

const whoIs = (principal: string) =>
  json({ principal, issuer: 'https://issuer.example', subject: principal });

/** Runs `mex …` in this process and returns its output, its error message and its exit code. */
async function mexCode(...args: string[]) {
  const { out, err, error } = await run(...args.map((arg) => arg.replace('FOLDER', folder)));
  const code = error === undefined ? Number(process.exitCode ?? 0) : (error.exitCode ?? 1);
  return { out, err, code, told: error === undefined ? '' : explain(error) };
}

const ACME = 'measurementConsumers/acme';
const STREAMLY = 'dataProviders/streamly';
const KEYS = (party: string) => ['--identity', `FOLDER/${party}`, '--root', `FOLDER/${party}/root.pem`];
const COMMANDS: [principal: string, ...args: string[]][] = [
  [ACME, 'whoami'],
  [ACME, 'measurements', 'list'],
  [ACME, 'measurements', 'show', 'x'],
  [ACME, 'measurements', 'timeline', 'x'],
  [ACME, 'measurements', 'cancel', 'x'],
  [ACME, 'measurements', 'results', 'x', ...KEYS('acme')],
  [STREAMLY, 'requisitions', 'list'],
  [ACME, 'requisitions', 'list', 'x'],
  [STREAMLY, 'requisitions', 'show', 'x'],
  [STREAMLY, 'requisitions', 'timeline', 'x'],
  [STREAMLY, 'requisitions', 'refuse', 'x', '--justification', 'DECLINED'],
  [ACME, 'event-groups', 'list'],
  [ACME, 'event-groups', 'list', '--decode', ...KEYS('acme')],
  [STREAMLY, 'event-groups', 'get', 'x'],
  [STREAMLY, 'event-groups', 'create', '--consumer', ACME, '--reference', 'spring'],
  [STREAMLY, 'event-groups', 'delete', 'x'],
  [STREAMLY, 'descriptors', 'list'],
  [STREAMLY, 'descriptors', 'get', 'x'],
  [ACME, 'certificates', 'list'],
  [ACME, 'certificates', 'get', 'x'],
  [ACME, 'certificates', 'create', 'FOLDER/acme/certificate.pem'],
  [ACME, 'certificates', 'revoke', `${ACME}/certificates/x`],
  ['duchies/worker1', 'computations', 'list'],
  ['duchies/worker1', 'computations', 'show', 'x'],
  [ACME, 'populations', 'list'],
  [ACME, 'populations', 'show', 'x'],
  [ACME, 'api-keys', 'list'],
  [ACME, 'api-keys', 'create', 'Reporting'],
  [ACME, 'api-keys', 'delete', 'x'],
  [ACME, 'webhooks', 'list'],
  [ACME, 'webhooks', 'create', 'https://hooks.example'],
  [ACME, 'webhooks', 'deliveries', 'x'],
  [ACME, 'why', 'x'],
  ['operator', 'admin', 'parties', 'list'],
  ['operator', 'admin', 'parties', 'get', ACME],
  ['operator', 'admin', 'principals', 'list'],
  ['operator', 'admin', 'roots', 'list'],
  ['operator', 'admin', 'certificates', 'list', ACME],
  ['operator', 'admin', 'audit'],
  [
    ACME,
    'measure',
    'reach',
    '--provider',
    'streamly',
    '--from',
    '2026-01-01',
    '--to',
    '2026-02-01',
    ...KEYS('acme'),
  ],
  [ACME, 'verify', 'measurement', 'x', ...KEYS('acme')],
  [STREAMLY, 'verify', 'measurement', 'x', ...KEYS('streamly')],
];

const ANSWERS: [what: string, answer: Answer | undefined, told: RegExp][] = [
  [
    '401',
    says('TOKEN_INVALID', 'The token is not acceptable.'),
    /\(TOKEN_INVALID\)\n {2}Get a fresh token .*MEX_TOKEN\.$/,
  ],
  ['401 of a proxy', page(401), /\(401\) is not one of an exchange: it is text\/html[\s\S]*--url or MEX_URL/],
  [
    '403',
    says('PERMISSION_DENIED', 'No.'),
    /\(PERMISSION_DENIED\)\n {2}The token in use may not do this: call as/,
  ],
  ['403 of a suspended party', says('PRINCIPAL_SUSPENDED', 'It is suspended.'), /\n {2}Ask the operator/],
  [
    '404',
    says('MEASUREMENT_NOT_FOUND', 'It does not exist.'),
    /^It does not exist\. \(MEASUREMENT_NOT_FOUND\)$/,
  ],
  [
    '429',
    says('RATE_LIMITED', 'Too many requests: slow down and retry.', { 'retry-after': '7' }),
    /slow down and retry\. \(RATE_LIMITED\)\n {2}Try again in 7 s\.$/,
  ],
  [
    '429 for long',
    says('RATE_LIMITED', 'Too many requests: slow down and retry.', { 'retry-after': '300' }),
    /\n {2}Try again in 300 s\.$/,
  ],
  [
    '500',
    says('INTERNAL', 'The exchange failed on this request; report its request ID.', {
      'x-request-id': 'r-17',
    }),
    /report its request ID\. \(INTERNAL\)\n {2}The request ID is r-17\.$/,
  ],
  ['503', says('UNAVAILABLE', 'The exchange is busy: retry.'), /is busy: retry\. \(UNAVAILABLE\)$/],
  ['503 of a proxy', page(503), /\(503\) is not one of an exchange[\s\S]*--url or MEX_URL/],
  [
    'JSON that is cut off',
    { status: 200, body: '{"measurements": [' },
    /\(200\) is not one of an exchange: it is truncated or damaged[\s\S]*--url or MEX_URL/,
  ],
  [
    'JSON of something else',
    { status: 502, body: '{"message":"no upstream"}' },
    /502 with JSON that is not one of an exchange\n {2}Check the address/,
  ],
  ['no connection', undefined, /does not respond \(.*ECONNREFUSED.*Does the exchange run there\?/],
];

it.each(ANSWERS)('%s: every command reports it and exits with 1', async (what, given, told) => {
  const turn = ANSWERS.findIndex(([named]) => named === what);
  if (given === undefined) vi.stubEnv('MEX_URL', away);
  else answer = given;
  for (const [i, [principal, ...args]] of COMMANDS.entries()) {
    // Outside of `npm run stress`, try each response with only every third command. The third changes from one response
    // to the next, so every command is still tried with several responses.
    if (!isStress && (i + turn) % 3 !== 0) continue;
    known = given === undefined || args[0] === 'whoami' ? {} : { whoami: whoIs(principal) };
    waits = [];
    // The message depends on neither the command nor the format, so half of the commands run with --json and half
    // without.
    const format = (i + what.length) % 2 === 0 ? ['--json'] : [];
    const { told: said, ...ran } = await mexCode(...args, ...format);
    const command = args.join(' ');
    expect({ command, ...ran }).toEqual({ command, out: '', err: '', code: 1 });
    expect(said, command).toMatch(told);
    if (what === '429') {
      expect(waits, command).toHaveLength(2);
      for (const ms of waits) expect(Math.floor(ms / 1000), command).toBe(7);
    }
    if (what === '429 for long') expect(waits, command).toEqual([]);
  }
});

it('a command that first calls whoami reports the errors of that call', async () => {
  for (const [, given, told] of ANSWERS) {
    if (given === undefined) continue;
    answer = given;
    for (const args of [['measurements', 'list'], ['watch'], ['watch', '--json']]) {
      const { told: said, ...ran } = await mexCode(...args);
      expect(ran).toEqual({ out: '', err: '', code: 1 });
      expect(said).toMatch(told);
    }
  }
});

it('mex watch exits on a permanent error, and retries after a transient error with one note', async () => {
  known = { whoami: whoIs(ACME) };
  for (const given of [says('TOKEN_INVALID', 'No.'), says('PERMISSION_DENIED', 'No.'), page(404)]) {
    answer = given;
    expect(await mexCode('watch')).toMatchObject({ out: '', err: '', code: 1 });
  }
  answer = says('UNAVAILABLE', 'The exchange is busy: retry.', { 'retry-after': '3' });
  afterWaits = 5;
  const ran = await mexCode('watch', '--json');
  expect(ran).toMatchObject({ out: '', code: 1, told: expect.stringContaining('(PERMISSION_DENIED)') });
  expect(ran.err).toBe('Changes cannot be followed for now; it tries again: The exchange is busy: retry.\n');
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(3000);
});

it('mex provider status names the command that creates a missing ledger', async () => {
  for (const format of [[], ['--json']]) {
    expect(await mexCode('provider', 'status', '--ledger', 'FOLDER/none.sqlite', ...format)).toEqual({
      ...{ out: '', err: '', code: 1 },
      told: `${join(folder, 'none.sqlite')} is not there: mex provider run creates it.`,
    });
  }
});
