/** Starts an exchange with HonestMajorityShareShuffle enabled. The duchies must exist before the exchange starts. */
import type { Config } from '@measurement-exchange/exchange/config';
import { type Database, type DevParty, type TestExchange, useExchange } from './exchange.ts';
import { asOperator } from './operator.ts';
import { ok } from './steps.ts';

export const SHARE_SHUFFLE = {
  firstWorker: 'duchies/worker1',
  secondWorker: 'duchies/worker2',
  aggregator: 'duchies/aggregator',
  noiseMechanism: 'DISCRETE_GAUSSIAN',
  reachRingModulus: 127,
  reachAndFrequencyRingModulus: 127,
} as const;

const CONFIG: Partial<Config> = { protocols: { honestMajorityShareShuffle: SHARE_SHUFFLE } };

/** Adds the duchies of the configuration, with endpoints and without certificates. */
export async function addDuchies(database: Database): Promise<void> {
  const { firstWorker, secondWorker, aggregator } = SHARE_SHUFFLE;
  await database.query(
    `INSERT INTO parties (name, endpoint, create_time, update_time)
     SELECT name, 'http://127.0.0.1:' || 9000 + n, now(), now() FROM unnest($1::text[]) WITH ORDINALITY AS d(name, n)`,
    [[firstWorker, secondWorker, aggregator]],
  );
}

/** Works like useExchange, but enables the share shuffle protocol and adds its duchies. */
export function useShareShuffle(overrides: Partial<Config> = {}): TestExchange {
  return useExchange({ ...CONFIG, ...overrides }, addDuchies);
}

/** Marks these providers as able to take part in the share shuffle protocol. */
export async function supportShareShuffle(exchange: TestExchange, providers: DevParty[]): Promise<void> {
  const capabilities = { honestMajorityShareShuffleSupported: true };
  for (const { name } of providers) await ok(asOperator(exchange, 'PATCH', name, { capabilities }));
}
