import { measurementRequest } from '@measurement-exchange/testkit/exchange';
import { ok, post, requisitionOf } from '@measurement-exchange/testkit/steps';
import { useWorld } from '@measurement-exchange/testkit/world';
import { expect, it } from 'vitest';
import { useEnvironment } from './environment.ts';
import { lines, run } from './mexInProcess.ts';

const w = useWorld();
useEnvironment(() => w.exchange);

it('prints changes as they come, and those that are kept', async () => {
  const { measurementConsumers, dataProviders } = w.exchange.dev;
  const [acme] = measurementConsumers;
  const [streamly] = dataProviders;
  const request = measurementRequest(acme!, [streamly!]);
  const { name } = await ok(post(w.exchange, acme!, `${acme!.name}/measurements`, request));
  const requisition = await requisitionOf(w.exchange, streamly!, { name });
  const watching = ['watch', '--as', 'streamly', '--oldest', '--kind', 'REQUISITION', '--limit', '1'];
  const { out, err, error } = await run(...watching);
  expect(error).toBeUndefined();
  expect(err).toContain(`${streamly!.name}: changes as they come`);
  expect(out).toMatch(/ {2}REQUISITION {2}/);
  expect(out).toContain(`${requisition.name} (1)  UNFULFILLED\n`);
  expect(lines((await run(...watching, '--json')).out)).toMatchObject([
    { name: requisition.name, kind: 'REQUISITION', state: 'UNFULFILLED', version: 1 },
  ]);
});
