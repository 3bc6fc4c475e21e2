/** Tests the operator's view of the health of the parties. */
import { type DevParty, type Reply, useExchange } from '@measurement-exchange/testkit/exchange';
import { asOperator } from '@measurement-exchange/testkit/operator';
import { castOf, createMeasurement, get, ok, post } from '@measurement-exchange/testkit/steps';
import { beforeAll, expect, it } from 'vitest';

type Json = Reply['json'];
const exchange = useExchange();
let cast: ReturnType<typeof castOf>;
beforeAll(() => {
  cast = castOf(exchange);
});

const page = (query = ''): Promise<Json> => ok(asOperator(exchange, 'GET', `partyHealth${query}`));
async function healthOf({ name }: Pick<DevParty, 'name'>): Promise<Json> {
  const { partyHealth } = await page('?pageSize=1000');
  return partyHealth.find((one: Json) => one.name === name);
}

it('partyHealth returns the last-seen time, the days left of the certificate, and the open work of a party', async () => {
  const { acme, streamly, chirper } = cast;
  const before = Date.now();
  await get(exchange, acme, `${acme.name}:summary`);
  const measurement = await createMeasurement(exchange, acme, [streamly]);
  const health = await healthOf(streamly);
  const { notAfter } = await get(exchange, streamly, `${streamly.certificate}`);
  expect(health).toMatchObject({
    state: 'ACTIVE',
    certificate: {
      name: streamly.certificate,
      notAfter,
      daysLeft: Math.floor((Date.parse(notAfter) - Date.now()) / 86_400_000),
    },
    open: { count: 1 },
    openByAge: { underHour: { count: 1 }, underDay: { count: 0 }, older: { count: 0 } },
    oldestOpenTime: measurement.createTime,
    webhooks: { active: 0, paused: 0, failing: 0 },
  });
  expect(Date.parse((await healthOf(acme)).lastSeen)).toBeGreaterThan(before - 30_000);
  expect((await healthOf(acme)).open).toEqual({ count: 1 });
  // The operator has no access to measurements, so the page must not contain the ID of the measurement.
  expect(JSON.stringify(await page())).not.toContain(measurement.name.split('/').at(-1));
  expect(await healthOf(chirper)).toMatchObject({ open: { count: 0 } });
  expect(await healthOf(chirper)).not.toHaveProperty('oldestOpenTime');
});

it('partyHealth shows a suspended party, a party that was never seen, and paused or failing webhooks', async () => {
  const { acme, chirper } = cast;
  const hook = await ok(post(exchange, chirper, `${chirper.name}/webhooks`, { url: 'http://127.0.0.1:9/' }));
  // No server listens at this address, so the change remains undelivered.
  await createMeasurement(exchange, acme, [chirper]);
  await expect
    .poll(async () => (await healthOf(chirper)).webhooks, { timeout: 90_000 })
    .toEqual({ active: 1, paused: 0, failing: 1 });
  await ok(exchange.call(chirper.token, 'PATCH', `/v2alpha/${hook.name}`, { state: 'PAUSED' }));
  expect((await healthOf(chirper)).webhooks).toEqual({ active: 0, paused: 1, failing: 0 });

  const { name } = await ok(asOperator(exchange, 'POST', 'duchies?duchyId=new', { displayName: 'New' }));
  await ok(asOperator(exchange, 'POST', `${name}:suspend`));
  const health = await healthOf({ name });
  expect(health).toMatchObject({ displayName: 'New', state: 'SUSPENDED', open: { count: 0 } });
  expect(health).not.toHaveProperty('lastSeen');
  expect(health).not.toHaveProperty('certificate');
});

it('partyHealth lists parties of all kinds in pages, in the order of names', async () => {
  const names: string[] = [];
  let token = '';
  do {
    const { partyHealth, nextPageToken } = await page(`?pageSize=2${token}`);
    names.push(...partyHealth.map((one: Json) => one.name));
    token = nextPageToken && `&pageToken=${nextPageToken}`;
  } while (token !== undefined);
  expect(names).toEqual(names.toSorted());
  expect(new Set(names.map((name) => name.split('/')[0]))).toEqual(
    new Set(['dataProviders', 'duchies', 'measurementConsumers']),
  );
  const { partyHealth } = await page('?pageSize=1000');
  expect(partyHealth.map((one: Json) => one.name)).toEqual(names);
});
