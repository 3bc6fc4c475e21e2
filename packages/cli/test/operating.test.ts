import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ExchangeProcess, ROOT, startExchangeProcess } from '@measurement-exchange/testkit/process';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

const run = promisify(execFile);
// Seven commands by way of npm: seconds each on a busy machine.
vi.setConfig({ testTimeout: 180_000 });
let folder: string;
let exchange: ExchangeProcess;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-operating-'));
  exchange = await startExchangeProcess({ dataDir: join(folder, 'data') });
  url = exchange.url;
});
afterAll(async () => {
  await exchange.kill();
  await rm(folder, { recursive: true, force: true });
});

const metrics = async () => (await fetch(`${url}/metrics`)).text();
const document = () => readFile(join(ROOT, 'docs/operating.md'), 'utf8');

it('onboarding, typed as printed, lets a new consumer and a new provider measure together', async () => {
  const text = await document();
  const section = text.slice(text.indexOf('## Onboarding'), text.indexOf('## Rotating keys'));
  const blocks = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!);
  expect(blocks).toHaveLength(6);
  const script = ['set -eo pipefail', ...blocks].join('\necho "----"\n');
  const { stdout } = await run('bash', ['-c', script], {
    cwd: ROOT,
    env: { ...process.env, MEX_DATA_DIR: join(folder, 'data'), TMPDIR: folder },
  });
  const [, , identities, onboarded, callers, created, fulfilled] = stdout.split('----\n');
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
  const explained = new Set([...(await document()).matchAll(/^\| `(mex_\w+)`/gm)].map(([, name]) => name!));
  expect([...explained].sort()).toEqual([...served].sort());
});
