import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ExchangeProcess, ROOT, spawnExchange, untilListening } from './exchangeProcess.ts';

const run = promisify(execFile);
let dataDir: string;
let exchange: ExchangeProcess;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'mex-readme-'));
  exchange = spawnExchange({ MEX_DATA_DIR: dataDir });
  await untilListening(exchange);
});
afterAll(async () => {
  exchange.child.kill('SIGTERM');
  await exchange.ended;
  await rm(dataDir, { recursive: true, force: true });
});

/** The blocks of a section, run one after the other in one shell; what each of them printed. */
async function typed(from: string, to: string): Promise<string[]> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const section = readme.slice(readme.indexOf(from), readme.indexOf(to));
  const blocks = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!);
  const script = ['set -eo pipefail', ...blocks].join('\necho "----"\n');
  const { stdout } = await run('bash', ['-c', script], {
    cwd: ROOT,
    env: { ...process.env, MEX_DATA_DIR: dataDir },
  });
  return stdout.split('----\n').slice(1);
}

it("a measurement of one's own events, typed as printed, ends with a figure near the truth", async () => {
  const shown = await typed('## Measure your own events', '## Five minutes');
  expect(shown).toHaveLength(5);
  expect(shown[1]).toMatch(/ is described to measurementConsumers\/acme\.\n$/);
  expect(shown[3]).toContain('fulfilled in');
  const events = (await readFile('/tmp/impressions.csv', 'utf8')).trim().split('\n').slice(1);
  const people = new Set(events.filter((line) => line.endsWith('phone')).map((line) => line.split(',')[0]));
  const [, reach] = /reach +([\d,]+) +95 %/.exec(shown[4]!) ?? [];
  // The noise has a standard deviation of 50.
  expect(Math.abs(Number(reach!.replace(',', '')) - people.size)).toBeLessThan(300);
  expect(shown[4]).toMatch(/5\+ +█/);
});

it("the README's tour, typed as printed, shows what it says", async () => {
  const shown = await typed('## Five minutes', '## What next');
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
