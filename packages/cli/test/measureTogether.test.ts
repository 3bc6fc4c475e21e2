/** Tests `mex measure` for a reach that duchies compute over several providers. */
import { writeFile } from 'node:fs/promises';
import { deduplicatedReach, useDeduplicatedWorld } from '@measurement-exchange/testkit/deduplicatedWorld';
import { beforeAll, expect, it } from 'vitest';
import { path, useEnvironment } from './environment.ts';
import { mex, run } from './mexInProcess.ts';
import { asked, describeTo } from './partyWorld.ts';

const w = useDeduplicatedWorld();
useEnvironment(() => w.exchange);

const asking = [
  '--as',
  'acme',
  '--provider',
  'streamly',
  '--provider',
  'chirper',
  '--from',
  '2026-01-01',
  '--to',
  '2026-02-01',
];
/** The --root option, with one root for each duchy. */
let accepted: string[];

beforeAll(async () => {
  for (const provider of w.providers) await describeTo(w.acme, provider, 'spring');
  await writeFile(path('aggregator.pem'), w.roots[1].pem);
  accepted = ['--root', ...w.duchyNames.map((name) => `${name}=${path('aggregator.pem')}`)];
});

it('mex measure prints one deduplicated figure with its interval and the duchies that computed it', async () => {
  const running = run('measure', 'reach', ...asking, '--epsilon', '0.5', ...accepted);
  const name = await asked(w.providers[0]!);
  await w.compute(name, deduplicatedReach(640n));
  const { out, err, error } = await running;
  expect(error).toBeUndefined();
  const { firstWorker, secondWorker, aggregator } = w.duchies;
  expect(err).toContain(`${aggregator.name}: ✓ computed`);
  expect(out).toMatch(/^all 2 providers, everybody counted once\n {2}reach +640 +95 %: 604 to 676$/m);
  expect(out).toContain(`computed by ${aggregator.name} with ${firstWorker.name} and ${secondWorker.name}\n`);
  const shown = await mex('measurements', 'show', name, '--as', 'acme');
  expect(shown).toMatch(new RegExp(`computed by +${aggregator.name}, .*: everybody counted once`));
  const verified = await mex('verify', 'measurement', name, '--as', 'acme', ...accepted);
  expect(verified).toContain('it computes with others, and you accept all of them');
  expect(verified).toContain('the aggregator has exactly one result, of what was asked');
});

it('mex measure --protocol requests a protocol, and prints which one is used if that is not possible', async () => {
  const asks = (protocol: string) =>
    run('measure', 'reach', ...asking, ...accepted, '--no-wait', '--protocol', protocol);
  expect((await asks('honestMajorityShareShuffle')).err).not.toContain('is used');
  const { out, err } = await asks('reachOnlyLiquidLegionsV2');
  expect(err).toContain(
    'reachOnlyLiquidLegionsV2 is not possible here, and honestMajorityShareShuffle is used',
  );
  expect(await mex('measurements', 'timeline', out.trim(), '--as', 'acme')).toMatch(
    /PROTOCOL_NOT_USED .*reachOnlyLiquidLegionsV2/,
  );
});

it('mex measure names the duchies that are not accepted and the --root options for them, and creates nothing', async () => {
  const measurements = () => Array.fromAsync(w.acme.client.listMeasurements({ parent: w.acme.name }));
  const before = await measurements();
  const { error } = await run('measure', 'reach', ...asking);
  expect(error?.message).toContain(
    `The result would not be accepted: ${w.duchies.aggregator.name} is to compute it`,
  );
  for (const name of w.duchyNames) expect(error?.message).toContain(`--root ${name}=<file>`);
  const [first, ...others] = w.duchyNames;
  const some = ['--root', `${first}=${path('aggregator.pem')}`];
  const second = await run('measure', 'reach', ...asking, ...some, '--dry-run');
  expect(second.error?.message).not.toContain(`--root ${first}=<file>`);
  for (const name of others) expect(second.error?.message).toContain(`--root ${name}=<file>`);
  expect(await measurements()).toEqual(before);
});

it('mex measure --dry-run prints the duchies, the expected error and the charge', async () => {
  const { err, out, error } = await run(
    'measure',
    'reach',
    ...asking,
    '--epsilon',
    '0.5',
    ...accepted,
    '--dry-run',
  );
  expect(error).toBeUndefined();
  const { firstWorker, secondWorker, aggregator } = w.duchies;
  expect(err).toContain(
    `honestMajorityShareShuffle, computed by ${aggregator.name} with ${firstWorker.name} and ${secondWorker.name}`,
  );
  // The interval in the first test, 604 to 676, is 640 ± 36. The plan predicts exactly this margin.
  expect(err).toMatch(/expected {2}reach ± 36 \(95 %\)/);
  expect(err).toMatch(
    /charge {4}dataProviders\/streamly, dataProviders\/chirper: delta .*, rho .* for each event group and day, 31 days/,
  );
  expect(JSON.parse(out)).toMatchObject({ type: 'reach' });
});
