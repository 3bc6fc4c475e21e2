/** Implements the MeasurementConsumers service, which only gets measurement consumers. */
import { create } from '@bufbuild/protobuf';
import type { ServiceImpl } from '@connectrpc/connect';
import { MeasurementConsumerSchema, type MeasurementConsumers } from '@measurement-exchange/contract/rpc';
import { type Api, idsIn } from './api.ts';
import { getParty, toParty } from './parties.ts';

export function measurementConsumers(api: Api): Partial<ServiceImpl<typeof MeasurementConsumers>> {
  return {
    getMeasurementConsumer: api.unary(async ({ name }, call) => {
      const consumer = await getParty(call, idsIn('measurementConsumer', name));
      return create(MeasurementConsumerSchema, await toParty(call, consumer));
    }),
  };
}
