/** The shell lines of the quickstarts, the tour and the operator's manual, run as printed against a live exchange. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { createDatabase, type Database } from '@measurement-exchange/testkit/exchange';
import { type ExchangeProcess, ROOT, startExchangeProcess } from '@measurement-exchange/testkit/process';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { run } from './mexInProcess.ts';

const execute = promisify(execFile);
// Each document runs a dozen commands: seconds each on a busy machine.
vi.setConfig({ testTimeout: 240_000 });
let folder: string;
let database: Database;
let exchange: ExchangeProcess;
let commands: Server;
/** What the commands of a document wrote to standard error. */
let complaints: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-documents-'));
  database = await createDatabase();
  const [dataDir, databaseUrl] = [join(folder, 'data'), database.url];
  exchange = await startExchangeProcess({ dataDir, databaseUrl, env: { MEX_DUCHIES: 'on' } });
  await addNpm();
  // Fewer people than the demo's million, so that they are counted sooner.
  await shell('npm run -s mex -- admin populations create few --range 1-10000 --default');
});
afterAll(async () => {
  commands.close();
  await exchange.kill();
  for (const duchy of ['alpha', 'beta', 'gamma']) {
    const name = `${new URL(database.url).pathname.slice(1)}_duchy_${duchy}`;
    await database.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** An `npm run -s mex -- …` whose command runs in this process, with the variables of the shell: a start of Node costs a second. */
async function addNpm(): Promise<void> {
  const socket = join(folder, 'mex.sock');
  commands = createServer(async (request, response) => {
    const entries = (await text(request)).split('\0').slice(0, -1);
    const end = entries.indexOf('');
    const words = entries.slice(end + 1);
    for (const variable of entries.slice(0, end)) {
      const [name] = variable.split('=', 1) as [string];
      vi.stubEnv(name, variable.slice(name.length + 1));
    }
    const { out, err, error } = await run(...words);
    vi.unstubAllEnvs();
    complaints.push(`mex ${words.join(' ')}: ${err}${error ?? ''}`);
    response.statusCode = error === undefined && process.exitCode === undefined ? 200 : 500;
    process.exitCode = undefined;
    response.end(out);
  }).listen(socket);
  await once(commands, 'listening');
  await mkdir(join(folder, 'bin'));
  const npm = join(folder, 'bin/npm');
  await writeFile(
    npm,
    `#!/bin/sh
[ "$1 $2 $3 $4" = 'run -s mex --' ] || { echo "npm $*: what is this?" >&2; exit 1; }
shift 4
{ env -0; printf '\\0'; printf '%s\\0' "$@"; } |
  curl -s --fail-with-body --unix-socket '${socket}' --data-binary @- http://mex
`,
  );
  await chmod(npm, 0o755);
}

/** The shell blocks of a document or a part of it, run one after the other in one shell; what each of them printed. */
async function typed(document: string, from = '', to?: string): Promise<string[]> {
  const all = await readFile(join(ROOT, document), 'utf8');
  const part = all.slice(all.indexOf(from), to === undefined ? undefined : all.indexOf(to));
  const blocks = [...part.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!);
  const stdout = await shell(['set -eo pipefail', ...blocks].join('\necho "----"\n'));
  return stdout.split('----\n').slice(1);
}

async function shell(script: string): Promise<string> {
  complaints = [];
  const { stdout } = await execute('bash', ['-c', script], {
    cwd: ROOT,
    env: {
      ...process.env,
      PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`,
      MEX_DATA_DIR: join(folder, 'data'),
      DATABASE_URL: database.url,
      TMPDIR: folder,
    },
  }).catch((error) => {
    throw new Error(`${error.message}\n${complaints.join('\n')}`);
  });
  return stdout;
}

const metrics = async () => (await fetch(`${exchange.url}/metrics`)).text();

// First: it looks at the findings of everything before it.
it('onboarding, typed as printed, lets a new consumer and a new provider measure together', async () => {
  const shown = await typed('docs/operating.md', '## Onboarding', '## Rotating keys');
  expect(shown).toHaveLength(6);
  const [, identities, onboarded, callers, created, fulfilled] = shown;
  const fingerprints = [...identities!.matchAll(/SHA-256 (\S+)/g)].map(([, fingerprint]) => fingerprint!);
  expect(fingerprints).toHaveLength(2);
  for (const fingerprint of fingerprints) expect(onboarded).toContain(fingerprint);
  expect(onboarded!.match(/is on board/g)).toHaveLength(2);
  expect(onboarded!.match(/done/g)).toHaveLength(10);
  expect(callers).toMatch(
    /"principal":"measurementConsumers\/initech".*\n.*"principal":"dataProviders\/lakeside"/,
  );
  expect(created).toMatch(/^measurementConsumers\/initech\/measurements\/[a-z0-9]+\n$/);
  expect(fulfilled).toBe('FULFILLED\nSUCCEEDED\n');
  // Signatures, chains and keys all hold.
  expect(await metrics()).not.toMatch(/^mex_findings_total\{/m);
});

it('every metric of ours is explained, and nothing else', async () => {
  const served = new Set([...(await metrics()).matchAll(/^# HELP (mex_\w+)/gm)].map(([, name]) => name!));
  const document = await readFile(join(ROOT, 'docs/operating.md'), 'utf8');
  const explained = new Set([...document.matchAll(/^\| `(mex_\w+)`/gm)].map(([, name]) => name!));
  expect([...explained].sort()).toEqual([...served].sort());
});

it('the quickstart for providers ends with a figure near the truth', async () => {
  const shown = await typed('docs/quickstart/provider.md');
  expect(shown).toHaveLength(6);
  expect(shown[1]).toMatch(/ is described to measurementConsumers\/acme\.\n$/);
  expect(shown[2]).toContain('UNFULFILLED');
  expect(shown[3]).toContain('fulfilled in');
  expect(shown[4]).toMatch(/autumn +2026-10-01 /);
  const events = (await readFile('/tmp/impressions.csv', 'utf8')).trim().split('\n').slice(1);
  const people = new Set(events.filter((line) => line.endsWith('phone')).map((line) => line.split(',')[0]));
  const [, reach] = /reach +([\d,]+) +95 %/.exec(shown[5]!) ?? [];
  // The noise has a standard deviation of 50.
  expect(Math.abs(Number(reach!.replace(',', '')) - people.size)).toBeLessThan(300);
  expect(shown[5]).toMatch(/5\+ +█/);
});

it('the quickstart for consumers ends with the total of two publishers, and every check holds', async () => {
  const shown = await typed('docs/quickstart/consumer.md');
  expect(shown).toHaveLength(7);
  expect(shown[1]).toContain('Acme: Winter');
  expect(shown[2]).toContain('AWAITING_REQUISITION_FULFILLMENT');
  expect(shown[3]!.match(/fulfilled in/g)).toHaveLength(2);
  const [, total] = /all 2 providers\n +impressions +([\d,]+) +95 %/.exec(shown[4]!) ?? [];
  // The noise has a standard deviation of 78.
  expect(Math.abs(Number(total!.replace(',', '')) - 12_000)).toBeLessThan(600);
  expect(shown[5]).toMatch(/SUCCEEDED.*computed[\s\S]*\nEverything holds\.\n$/);
  const [, reach] = /everybody counted once\n +reach +([\d,]+) +95 %/.exec(shown[6]!) ?? [];
  // The noise of both duchies has a standard deviation of 7.
  expect(Math.abs(Number(reach!.replace(',', '')) - 3000)).toBeLessThan(60);
});

it('the quickstart for operators lets a party in, suspends it and lets it back', async () => {
  const shown = await typed('docs/quickstart/operator.md');
  expect(shown).toHaveLength(5);
  expect(shown[0]).toMatch(/dataProviders\/streamly .*ACTIVE/);
  const [fingerprint] = /SHA-256 \S+/.exec(shown[1]!)!;
  expect(shown[2]).toContain(fingerprint);
  expect(shown[2]).toMatch(/is on board\.[\s\S]*\ndataProviders\/hillside\n/);
  expect(shown[3]).toMatch(/is suspended;.*\nsuspended\n.*is active again;/);
  expect(shown[4]).toMatch(
    /resumeParty[\s\S]*found nothing wrong\.\n\{"status":"ready"\}\nmex_requests_total/,
  );
});

it("the tour's lines, typed as printed, show what they say", async () => {
  const shown = await typed('docs/tour.md');
  expect(shown.length).toBeGreaterThan(6);
  expect(shown[0]).toContain('"principal":"measurementConsumers/acme"');
  expect(shown[1]).toMatch(/^measurementConsumers\/acme\/measurements\/[a-z0-9]+\n$/);
  expect(shown[2]).toBe('the same one\n');
  expect(shown[3]).toBe('FULFILLED\n');
  expect(shown[4]).toBe('ABORTED\n');
  expect(shown[5]).toMatch(/^SUCCEEDED\n2 results\n/);
  expect(shown[5]).toMatch(
    / {2}COMPUTING {2}by dataProviders\/chirper\n.* {2}SUCCEEDED {2}by dataProviders\/chirper\n$/,
  );
  expect(shown[6]).toMatch(/^REFUSED\n.*INSUFFICIENT_PRIVACY_BUDGET: used up\n$/);
  expect(shown[7]).toBe('CANCELLED\n');
});
