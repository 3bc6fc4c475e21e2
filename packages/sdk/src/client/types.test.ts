import type {
  Certificate,
  DataProvider,
  Duchy,
  Measurement,
  Requisition,
} from '@measurement-exchange/contract';
import { expectTypeOf, it } from 'vitest';
import type { Listing } from './listing.ts';
import type { ArgumentsOf, ExchangeClient, ResponseOf } from './types.ts';

/** Calls that must compile, and calls that must not compile. The type check in `npm run check` tests them. */
export function calls(client: ExchangeClient) {
  expectTypeOf(client.whoAmI()).resolves.toHaveProperty('principal');
  expectTypeOf(client.getMeasurement({ name: 'n' })).resolves.toEqualTypeOf<Measurement>();
  expectTypeOf(client.getCertificate({ name: 'n' })).resolves.toEqualTypeOf<Certificate>();
  expectTypeOf(
    client.cancelMeasurement({ name: 'n', validateOnly: true }),
  ).resolves.toEqualTypeOf<Measurement>();
  expectTypeOf(
    client.listRequisitions({ parent: 'p', pageSize: 3, 'filter.states': ['UNFULFILLED'] }),
  ).toEqualTypeOf<Listing<Requisition, { requisitions: Requisition[]; nextPageToken?: string }>>();
  expectTypeOf(client.createParty({ collection: 'duchies', duchyId: 'd' })).resolves.toEqualTypeOf<Duchy>();
  expectTypeOf(client.listParties({ collection: 'dataProviders' }).page()).resolves.toEqualTypeOf<{
    dataProviders: DataProvider[];
    nextPageToken?: string;
  }>();

  // @ts-expect-error getMeasurement takes a name, not a parent
  client.getMeasurement({ parent: 'p' });
  // @ts-expect-error listRequisitions takes a parent, not a name
  client.listRequisitions({ name: 'n' });
  // @ts-expect-error the state does not exist
  client.listRequisitions({ parent: 'p', 'filter.states': ['UNFULFILED'] });
  // @ts-expect-error the filter does not exist
  client.listRequisitions({ parent: 'p', 'filter.state': ['UNFULFILLED'] });
  // @ts-expect-error the body is missing
  client.createMeasurement({ parent: 'p' });
  // @ts-expect-error a 64-bit integer must be a bigint
  client.fulfillDirectRequisition({ name: 'n', body: { ...fulfillment, nonce: 1 } });
  // @ts-expect-error a read does not take validateOnly
  client.getMeasurement({ name: 'n', validateOnly: true });
  // @ts-expect-error the collection is missing
  client.listParties({});
  // @ts-expect-error the ID belongs to another collection
  client.createParty({ collection: 'duchies', dataProviderId: 'd' });
  // @ts-expect-error the operation does not exist
  client.getMeasurements({});
}
declare const fulfillment: NonNullable<ArgumentsOf<'fulfillDirectRequisition'>['body']>;

it('arguments and responses have the types of the routes table', () => {
  expectTypeOf<ArgumentsOf<'createMeasurement'>['requestId']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<ArgumentsOf<'fulfillDirectRequisition'>['body']['nonce']>().toEqualTypeOf<bigint>();
  expectTypeOf<ResponseOf<'getParty'>['state']>().toEqualTypeOf<'ACTIVE' | 'SUSPENDED'>();
});
