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

/** Calls that must compile or must not compile. `npm run check` is the test. */
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

  // @ts-expect-error a resource has a name
  client.getMeasurement({ parent: 'p' });
  // @ts-expect-error a collection has a parent
  client.listRequisitions({ name: 'n' });
  // @ts-expect-error no such state
  client.listRequisitions({ parent: 'p', 'filter.states': ['UNFULFILED'] });
  // @ts-expect-error no such filter
  client.listRequisitions({ parent: 'p', 'filter.state': ['UNFULFILLED'] });
  // @ts-expect-error nothing to create
  client.createMeasurement({ parent: 'p' });
  // @ts-expect-error 64-bit integers are bigint
  client.fulfillDirectRequisition({ name: 'n', body: { ...fulfillment, nonce: 1 } });
  // @ts-expect-error reads are not rehearsed
  client.getMeasurement({ name: 'n', validateOnly: true });
  // @ts-expect-error the collection is missing
  client.listParties({});
  // @ts-expect-error the ID of another collection
  client.createParty({ collection: 'duchies', dataProviderId: 'd' });
  // @ts-expect-error no such operation
  client.getMeasurements({});
}
declare const fulfillment: NonNullable<ArgumentsOf<'fulfillDirectRequisition'>['body']>;

it('follows from the routes table', () => {
  expectTypeOf<ArgumentsOf<'createMeasurement'>['requestId']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<ArgumentsOf<'fulfillDirectRequisition'>['body']['nonce']>().toEqualTypeOf<bigint>();
  expectTypeOf<ResponseOf<'getParty'>['state']>().toEqualTypeOf<'ACTIVE' | 'SUSPENDED'>();
});
