/** Tests that a gRPC update keeps concurrent changes to fields that the update's message cannot express. */
import { DataProviders, EventGroups } from '@measurement-exchange/contract/rpc';
import { useExchange } from '@measurement-exchange/testkit/exchange';
import { clientOf } from '@measurement-exchange/testkit/rpc';
import { castOf, get, ok, post } from '@measurement-exchange/testkit/steps';
import pg from 'pg';
import { expect, it } from 'vitest';

const exchange = useExchange();

async function waiting(): Promise<number> {
  const rows = await exchange.database.query(
    `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length;
}

/**
 * Makes the exchange process concurrent requests in the order of `requests`. Locks the row that `query` selects, and
 * unlocks the row when all requests wait for it. Sends each request only after the previous request has begun to wait.
 */
async function inOrder(query: string, id: string, requests: (() => Promise<unknown>)[]): Promise<void> {
  const holder = new pg.Client({ connectionString: exchange.database.url });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    expect((await holder.query(`${query} FOR UPDATE`, [id])).rowCount).toBe(1);
    const done: Promise<unknown>[] = [];
    for (const request of requests) {
      done.push(request());
      await expect.poll(waiting, { interval: 10 }).toBe(done.length);
    }
    await holder.query('COMMIT');
    await Promise.all(done);
  } finally {
    await holder.end();
  }
}

it('a gRPC update of capabilities keeps a concurrent REST change to those of older protocols', async () => {
  const { streamly } = castOf(exchange);
  const { name } = streamly;
  const client = clientOf(exchange.dev, DataProviders, { token: streamly.token });
  const older = { liquidLegionsV2Supported: true };
  const capabilities = { trusTeeSupported: true };
  await inOrder('SELECT FROM parties WHERE name = $1', name, [
    () => ok(exchange.call(streamly.token, 'PATCH', `/v2alpha/${name}`, { capabilities: older })),
    () => client.replaceDataProviderCapabilities({ name, capabilities }),
  ]);
  expect((await get(exchange, streamly, name)).capabilities).toEqual({ ...older, ...capabilities });
});

it.each(['one', 'a batch'])(
  'a gRPC update of event groups keeps a concurrent REST change to their attributes (%s)',
  async (how) => {
    const { acme, streamly } = castOf(exchange);
    const client = clientOf(exchange.dev, EventGroups, { token: streamly.token });
    const parent = streamly.name;
    const body = { measurementConsumer: acme.name };
    const { name } = await ok(post(exchange, streamly, `${parent}/eventGroups`, body));
    const attributes = [{ name: 'age', type: 'INT' }];
    const eventGroup = { name, measurementConsumer: acme.name, eventGroupReferenceId: 'changed' };
    await inOrder('SELECT FROM event_groups WHERE id = $1', name.split('/').at(-1), [
      () => ok(exchange.call(streamly.token, 'PUT', `/v2alpha/${name}`, { ...body, attributes })),
      () =>
        how === 'one'
          ? client.updateEventGroup({ eventGroup })
          : client.batchUpdateEventGroups({ parent, requests: [{ eventGroup }] }),
    ]);
    expect(await get(exchange, streamly, name)).toMatchObject({
      attributes,
      eventGroupReferenceId: 'changed',
    });
  },
);
