/** The measured operations: their requests, and the resources that they use. */
import { randomUUID } from 'node:crypto';
import { etagOf } from '@measurement-exchange/exchange/internal/domain/measurement';
import { newId } from '@measurement-exchange/exchange/internal/ids';
import type { DevParty } from './exchange.ts';
import type { BenchDatabase } from './postgres.ts';
import type { Template } from './requests.ts';
import { copyId, copyMeasurement, copyRequisitionId, fulfillment, type World } from './world.ts';

export interface MeasuredOperation {
  name: string;
  caller: DevParty;
  template: Template;
  /** True if each item can be used only once. */
  consumes: boolean;
  /**
   * Returns `count` new items if `consumes` is true, and otherwise the same items in every call. An item holds the
   * values that differ from one request to the next, in the request itself or in its SQL statements.
   */
  items: (count: number) => Promise<string[][]>;
}

/** The number of copies of one measurement. All operations that only read measurements use these copies. */
const STOCK = 1_000;
const BATCH = 50;

export async function measuredOperations(
  world: World,
  database: BenchDatabase,
): Promise<MeasuredOperation[]> {
  const { consumer, providers } = world;
  const provider = providers[0]!;
  await copyMeasurement(database, world.open, { prefix: 'stock', count: STOCK });
  await database.query('VACUUM ANALYZE');
  const stock = Array.from({ length: STOCK }, (_, i) => copyId('stock', i));
  const measurements = `/v2alpha/${consumer.name}/measurements`;
  const requisitions = `/v2alpha/${provider.name}/requisitions`;
  return [
    {
      name: 'get',
      caller: consumer,
      template: { method: 'GET', path: `${measurements}/<<0>>` },
      consumes: false,
      items: async () => stock.map((id) => [id]),
    },
    {
      name: 'list page of 50',
      caller: provider,
      template: { method: 'GET', path: `${requisitions}?filter.states=UNFULFILLED&pageSize=50` },
      consumes: false,
      items: async () => [[]],
    },
    {
      name: 'batchGet of 50',
      caller: consumer,
      template: {
        method: 'POST',
        path: `${measurements}:batchGet`,
        body: JSON.stringify({
          names: Array.from({ length: BATCH }, (_, i) => `${consumer.name}/measurements/<<${i}>>`),
        }),
      },
      consumes: false,
      items: async () =>
        Array.from({ length: STOCK / BATCH }, (_, i) => stock.slice(i * BATCH, (i + 1) * BATCH)),
    },
    {
      name: 'create, 3 providers',
      caller: consumer,
      template: { method: 'POST', path: `${measurements}?requestId=<<0>>`, body: world.createBody },
      consumes: true,
      items: async (count) =>
        Array.from({ length: count }, () => [randomUUID(), newId(), ...providers.map(() => newId())]),
    },
    {
      name: 'fulfillDirect',
      caller: provider,
      template: {
        method: 'POST',
        path: `${requisitions}/<<0>>:fulfillDirect`,
        body: JSON.stringify({ ...fulfillment(provider, ''), etag: '<<1>>' }),
      },
      consumes: true,
      items: (count) => freshRequisitions(world, database, count),
    },
    {
      name: 'refuse',
      caller: provider,
      template: {
        method: 'POST',
        path: `${requisitions}/<<0>>:refuse`,
        body: JSON.stringify({
          refusal: { justification: 'DECLINED', message: 'The campaign is not ours to measure.' },
          etag: '<<1>>',
        }),
      },
      consumes: true,
      items: (count) => freshRequisitions(world, database, count),
    },
  ];
}

/**
 * Creates `count` copies of the open measurement. Returns for each copy the ID and the etag of the first provider's
 * requisition, the ID of the measurement, and the IDs of the other requisitions.
 */
async function freshRequisitions(world: World, database: BenchDatabase, count: number): Promise<string[][]> {
  const prefix = randomUUID();
  await copyMeasurement(database, world.open, { prefix, count });
  return Array.from({ length: count }, (_, i) => {
    const [own, ...others] = world.providers.map((_, ordinal) => copyRequisitionId(prefix, i, ordinal));
    return [own!, etagOf({ id: own!, version: 1 }), copyId(prefix, i), ...others];
  });
}
