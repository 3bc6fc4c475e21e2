/** Tests that a data provider from the public reference system can answer requests from this SDK. */
import { openStock, type Stock, type StockClient, tlsIdentity } from '@measurement-exchange/testkit/stock';
import { StockProvider } from '@measurement-exchange/testkit/stockParties';
import { asking, useWorld } from '@measurement-exchange/testkit/world';
import { afterAll, beforeAll, expect, it } from 'vitest';

const w = useWorld();
let stock: Stock;
let client: StockClient;
let provider: StockProvider;
beforeAll(async () => {
  stock = await openStock(w.exchange.dev);
  client = stock.connect({ identity: await tlsIdentity(w.root, w.streamly.name) });
  provider = new StockProvider(stock, client, w.streamly);
});
afterAll(() => client.close());

const REACH = {
  reach: { value: '1234', noise_mechanism: 'CONTINUOUS_GAUSSIAN', deterministic_count_distinct: {} },
};

it('a data provider of the public reference system fulfills a direct measurement, which the consumer opens', async () => {
  const asked = asking(w);
  const { name } = await w.consumer.create(asked);
  const seen: unknown[] = [];
  const states = await provider.answer((spec, requisitionSpec) => {
    seen.push(spec.reach.privacy_params.epsilon, requisitionSpec.events.event_groups[0].key);
    return REACH;
  });
  expect(states).toEqual(['FULFILLED']);
  expect(seen).toEqual([asked.privacy!.epsilon, `${w.streamly.name}/eventGroups/tv`]);
  const { dataProviders } = await w.consumer.open(await w.consumer.wait(name!), { request: asked });
  expect(dataProviders).toMatchObject([{ name: w.streamly.name, reach: { value: 1234 } }]);
});
