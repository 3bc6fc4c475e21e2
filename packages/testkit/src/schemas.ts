/** Functions that tests of metadata schemas share. */
import type { DevParty, TestExchange } from './exchange.ts';
import { castOf, get, ok, post } from './steps.ts';

export interface Field {
  name: string;
  number: number;
  type: string;
}

export const BUDGET: Field = { name: 'budget', number: 1, type: 'TYPE_INT32' };
export const BRAND: Field = { name: 'brand', number: 2, type: 'TYPE_STRING' };

/** A descriptor set with one file: its package is `name`, and its message Campaign has these fields. */
export const schema = (name: string, ...field: Field[]) => ({
  file: [{ name: `${name}.proto`, package: name, messageType: [{ name: 'Campaign', field }] }],
});

export const parentOf = (provider: DevParty) => `${provider.name}/eventGroupMetadataDescriptors`;
export const create = (exchange: TestExchange, provider: DevParty, descriptorSet: unknown, query = '') =>
  post(exchange, provider, `${parentOf(provider)}${query}`, { descriptorSet });
export const update = (
  exchange: TestExchange,
  provider: DevParty,
  name: string,
  descriptorSet: unknown,
  query = '',
) => exchange.call(provider.token, 'PUT', `/v2alpha/${name}${query}`, { descriptorSet });
export const DRY_RUN = '?validateOnly=true';

/**
 * Creates one event group for each state, with the descriptor `name`. If the state is `DELETED`, deletes the event
 * group after creating it.
 */
export async function addEventGroups(
  exchange: TestExchange,
  provider: DevParty,
  name: string,
  ...states: string[]
) {
  const { descriptorSet } = await get(exchange, provider, name);
  const metadata = { '@type': `type.googleapis.com/${descriptorSet.file[0].package}.Campaign` };
  for (const state of states) {
    const group = await ok(
      post(exchange, provider, `${provider.name}/eventGroups`, {
        measurementConsumer: castOf(exchange).acme.name,
        encryptedMetadata: { metadata: { eventGroupMetadataDescriptor: name, metadata } },
      }),
    );
    if (state === 'DELETED') await ok(exchange.call(provider.token, 'DELETE', `/v2alpha/${group.name}`));
  }
}
