/** Runs the examples of README.md unchanged against a running exchange. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { useExchange } from '@measurement-exchange/testkit/exchange';
import { afterAll, beforeAll, expect, it } from 'vitest';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

let folder: string;
const children: ChildProcess[] = [];

const exchange = useExchange({ checks: 'strict' });
beforeAll(async () => {
  // Create the folder inside the package, so that imports of the package's name work as in a project that installed the
  // package.
  folder = await mkdtemp(join(PACKAGE, '.readme-'));
  const readme = await readFile(join(PACKAGE, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map((match) => match[1]!);
  expect(blocks).toHaveLength(3);
  for (const [i, name] of ['consumer', 'provider', 'client'].entries()) {
    await writeFile(join(folder, `${name}.mjs`), blocks[i]!);
  }
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

function run(name: string) {
  const child = spawn(process.execPath, [`${name}.mjs`], {
    cwd: folder,
    env: { ...process.env, MEX_DATA_DIR: exchange.dataDir },
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return { child, ended, output: () => output };
}

it('the examples of README.md run: a provider answers a consumer, and a client finds the measurement', async () => {
  const provider = run('provider');
  // Wait until the provider has created its event group, because the consumer's example looks for it.
  const { dataProviders } = exchange.dev;
  await expect
    .poll(
      async () =>
        (
          await exchange.call(
            dataProviders[0]!.token,
            'GET',
            `/v2alpha/${dataProviders[0]!.name}/eventGroups`,
          )
        ).json.eventGroups?.length,
      { timeout: 90_000 },
    )
    .toBe(1);

  const consumer = run('consumer');
  expect(await consumer.ended, consumer.output() + provider.output()).toBe(0);
  expect(consumer.output()).toMatch(/^1 event groups\nAWAITING_REQUISITION_FULFILLMENT\n/);
  const [, people] =
    /dataProviders\/streamly: (\d+) people, 95 % between \d+ and \d+/.exec(consumer.output()) ?? [];
  // The filter selects 2,000 of the 3,000 impressions. The selected impressions belong to 1,000 people. The noise has a
  // standard deviation of 5.5, so the limit of 40 is seven deviations.
  expect(Math.abs(Number(people) - 1000)).toBeLessThan(40);
  expect(consumer.output().match(/^ {2}\d times: [\d.]+ %$/gm)).toHaveLength(5);

  provider.child.kill('SIGTERM');
  expect(await provider.ended, provider.output()).toBe(0);
  expect(provider.output()).toMatch(/^fulfilled dataProviders\/streamly\/requisitions\//m);

  const client = run('client');
  expect(await client.ended, client.output()).toBe(0);
  const lines = client.output().trim().split('\n');
  expect(lines[0]).toBe('measurementConsumers/acme');
  expect(lines[1]).toMatch(/^measurementConsumers\/acme\/measurements\//);
  expect(lines[2]).toBe('NOT_FOUND MEASUREMENT_NOT_FOUND');
}, 90_000);
