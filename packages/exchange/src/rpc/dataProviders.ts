/**
 * Implements the DataProviders service: gets data providers, and replaces their availability and their capabilities.
 */
import { create } from '@bufbuild/protobuf';
import type { ServiceImpl } from '@connectrpc/connect';
import { type DataProvider as DataProviderResource, invalid, REQUIRED } from '@measurement-exchange/contract';
import {
  type DataProvider,
  DataProviderSchema,
  type DataProviders,
} from '@measurement-exchange/contract/rpc';
import { type Api, type Call, idsIn } from './api.ts';
import { fromInterval, toInterval } from './intervals.ts';
import { getParty, toParty } from './parties.ts';
import { given } from './values.ts';

/**
 * Capabilities without a field in the public API. `replaceDataProviderCapabilities` leaves these capabilities
 * unchanged.
 */
const OLDER_PROTOCOLS = [
  'capabilities.liquidLegionsV2Supported',
  'capabilities.reachOnlyLiquidLegionsV2Supported',
];

export function dataProviders(api: Api): Partial<ServiceImpl<typeof DataProviders>> {
  return {
    getDataProvider: api.unary(async ({ name }, call) =>
      toDataProvider(call, await getParty(call, idsIn('dataProvider', name))),
    ),

    replaceDataAvailabilityInterval: api.unary(async ({ name, dataAvailabilityInterval }, call) => {
      const ids = idsIn('dataProvider', name);
      const body = {
        dataAvailabilityInterval: required(
          'dataAvailabilityInterval',
          fromInterval(dataAvailabilityInterval),
        ),
      };
      return toDataProvider(call, await call.run('updateParty', ids, { body }));
    }),

    replaceDataAvailabilityIntervals: api.unary(async ({ name, dataAvailabilityIntervals }, call) => {
      const ids = idsIn('dataProvider', name);
      const body = {
        dataAvailabilityIntervals: dataAvailabilityIntervals.map(({ key, value }) => ({
          modelLine: given(key),
          interval: fromInterval(value),
        })),
      };
      return toDataProvider(call, await call.run('updateParty', ids, { body }));
    }),

    replaceDataProviderCapabilities: api.unary(async ({ name, capabilities }, call) => {
      const ids = idsIn('dataProvider', name);
      const { $typeName: _, $unknown: __, ...given } = required('capabilities', capabilities);
      const request = { body: { capabilities: given }, keeps: OLDER_PROTOCOLS };
      return toDataProvider(call, await call.run('updateParty', ids, request));
    }),
  };
}

function required<T>(field: string, value: T | undefined): T {
  if (value === undefined) throw invalid([{ field, description: REQUIRED }]);
  return value;
}

async function toDataProvider(call: Call, provider: DataProviderResource): Promise<DataProvider> {
  const { capabilities = {}, dataAvailabilityInterval, dataAvailabilityIntervals = [] } = provider;
  const { liquidLegionsV2Supported: _, reachOnlyLiquidLegionsV2Supported: __, ...shown } = capabilities;
  return create(DataProviderSchema, {
    ...(await toParty(call, provider)),
    capabilities: shown,
    dataAvailabilityInterval: toInterval(dataAvailabilityInterval),
    dataAvailabilityIntervals: dataAvailabilityIntervals.map(({ modelLine, interval }) => ({
      key: modelLine,
      value: toInterval(interval),
    })),
  });
}
