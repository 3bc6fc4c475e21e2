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

it("the README's tour, typed as printed, shows what it says", async () => {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const tour = readme.slice(readme.indexOf('## Five minutes'), readme.indexOf('## What next'));
  const blocks = [...tour.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!);
  expect(blocks.length).toBeGreaterThan(6);
  const script = ['set -eo pipefail', ...blocks].join('\necho "----"\n');
  const { stdout } = await run('bash', ['-c', script], {
    cwd: ROOT,
    env: { ...process.env, MEX_DATA_DIR: dataDir },
  });
  const shown = stdout.split('----\n').slice(1);
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
