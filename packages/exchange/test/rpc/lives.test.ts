/**
 * Tests parties that use only gRPC over mutual TLS. The operator onboards the parties, a data provider registers event
 * groups and answers requisitions, and a measurement consumer creates measurements and reads the results. The steps are
 * the same with grpc-js and Connect.
 */
import { X509Certificate } from 'node:crypto';
import { createIdentity, type Root } from '@measurement-exchange/sdk/identity';
import { UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { asOperator } from '@measurement-exchange/testkit/operator';
import { ok } from '@measurement-exchange/testkit/steps';
import {
  codeOf,
  type Message,
  openStock,
  type Stock,
  type StockClient,
  tlsIdentity,
} from '@measurement-exchange/testkit/stock';
import { keyOf, type StockParty, signed } from '@measurement-exchange/testkit/stockMessages';
import { StockConsumer, StockProvider } from '@measurement-exchange/testkit/stockParties';
import { beforeAll, describe, expect, it } from 'vitest';

const exchange = useExchange({ rate: UNLIMITED });
let stock: Stock;
beforeAll(async () => {
  stock = await openStock(exchange.dev);
});

const REACH = {
  reach: { value: '1234', noise_mechanism: 'CONTINUOUS_GAUSSIAN', deterministic_count_distinct: {} },
};
const REFUSAL = { refusal: { justification: 'DECLINED', message: 'not this quarter' } };
const INTERVAL = { start_time: { seconds: '1767225600' }, end_time: { seconds: '1767312000' } };
const measurementType = { reach: { privacy_params: { epsilon: 0.1, delta: 1e-9 } } };

describe.each([
  ['grpc-js', 'a', false],
  ['Connect', 'b', true],
])('with clients of %s', (_, id, isGenerated) => {
  let operator: StockClient;
  let consumer: Newcomer;
  let provider: Newcomer;

  /** A party with its root, and a client that uses a TLS certificate issued by this root. */
  interface Newcomer {
    party: StockParty;
    root: Root;
    client: StockClient;
  }

  beforeAll(async () => {
    const authorization = `Bearer ${exchange.dev.operator.token}`;
    operator = stock.connect({ isGenerated, headers: { authorization } });
    consumer = await letIn('measurementConsumers', 'measurementConsumerId');
    provider = await letIn('dataProviders', 'dataProviderId');
    return () => {
      for (const { close } of [operator, consumer.client, provider.client]) close();
    };
  });

  /**
   * Onboards a party as the operator: creates the party, trusts its root, and registers its certificate and key. The
   * first two steps use REST, because the public API has no RPCs for them.
   */
  async function letIn(collection: string, idParameter: string): Promise<Newcomer> {
    const name = `${collection}/life-${id}`;
    const { root, ...keys } = await createIdentity({
      party: name,
      commonName: name,
      now: Date.now(),
      days: 30,
    });
    await ok(asOperator(exchange, 'POST', `${collection}?${idParameter}=life-${id}`, { displayName: name }));
    await ok(asOperator(exchange, 'POST', 'trustedRoots', { x509Pem: root.certificatePem, party: name }));
    const party = await publish(operator, name, keys);
    const client = stock.connect({ isGenerated, identity: await tlsIdentity(root, name) });
    return { party, root, client };
  }

  type Keys = Omit<Awaited<ReturnType<typeof createIdentity>>, 'root'>;

  /** Registers a certificate, and a public encryption key that the certificate's private key signed. */
  async function publish(by: StockClient, name: string, keys: Keys): Promise<StockParty> {
    const x509_der = new X509Certificate(keys.certificatePem).raw;
    const request = { parent: name, certificate: { x509_der } };
    const certificate = await by.call('Certificates/CreateCertificate', request);
    const party: StockParty = {
      name,
      certificate: certificate.name,
      privateKeyPem: keys.privateKeyPem,
      encryptionPublicKey: keys.keysets.publicKeyset,
      encryptionPrivateKey: keys.keysets.privateKeyset,
    };
    const key = signed(stock, 'EncryptionPublicKey', keyOf(party), party);
    const updated = await by.call('PublicKeys/UpdatePublicKey', {
      public_key: { name: `${name}/publicKey`, public_key: key, certificate: party.certificate },
    });
    expect(updated).toMatchObject({
      name: `${name}/publicKey`,
      public_key: key,
      certificate: party.certificate,
    });
    return party;
  }

  /** Changes the certificate and the encryption key of the party, and revokes the earlier certificate. */
  async function changeKeys({ party, root, client }: Newcomer): Promise<StockParty> {
    const { name } = party;
    const keys = await createIdentity({ party: name, commonName: name, now: Date.now(), days: 30, root });
    const changed = await publish(client, name, keys);
    const revoked = await client.call('Certificates/RevokeCertificate', {
      name: party.certificate,
      revocation_state: 'REVOKED',
    });
    expect(revoked).toMatchObject({ name: party.certificate, revocation_state: 'REVOKED' });
    return changed;
  }

  const asking = (eventGroup: string) => ({
    measurementType,
    dataProviders: [
      {
        name: provider.party.name,
        eventGroups: [{ key: eventGroup, value: { collection_interval: INTERVAL } }],
      },
    ],
  });

  /** Checks that the provider's root issued the certificate. */
  async function trust(x509Der: Uint8Array): Promise<void> {
    const { publicKey } = new X509Certificate(provider.root.certificatePem);
    expect(new X509Certificate(x509Der).verify(publicKey)).toBe(true);
  }

  async function offer(reference: string): Promise<Message> {
    return provider.client.call('EventGroups/CreateEventGroup', {
      parent: provider.party.name,
      event_group: {
        measurement_consumer: consumer.party.name,
        event_group_reference_id: reference,
        media_types: ['VIDEO'],
        data_availability_interval: INTERVAL,
        event_group_metadata: {
          ad_metadata: { campaign_metadata: { brand_name: 'Brand', campaign_name: reference } },
        },
      },
      request_id: reference,
    });
  }

  it('an operator onboards parties, and creates and deletes an API key', async () => {
    const { name } = consumer.party;
    const read = await provider.client.call('MeasurementConsumers/GetMeasurementConsumer', { name });
    expect(read).toMatchObject({ name, certificate: consumer.party.certificate });
    expect(
      await provider.client.call('Certificates/GetCertificate', { name: read.certificate }),
    ).toMatchObject({
      x509_der: read.certificate_der,
    });
    expect(await codeOf(operator.call('MeasurementConsumers/CreateMeasurementConsumer', {}))).toBe(
      'UNIMPLEMENTED',
    );

    const apiKey = await operator.call('ApiKeys/CreateApiKey', {
      parent: name,
      api_key: { nickname: 'Reporting' },
    });
    const headers = { 'x-api-key': apiKey.authentication_key };
    const reporting = stock.connect({ isGenerated, headers });
    expect(await reporting.call('Measurements/ListMeasurements', { parent: name })).toMatchObject({
      measurements: [],
    });
    await operator.call('ApiKeys/DeleteApiKey', { name: apiKey.name });
    expect(await codeOf(reporting.call('Measurements/ListMeasurements', { parent: name }))).toBe(
      'UNAUTHENTICATED',
    );
    reporting.close();

    const vid_ranges = [{ start_vid: '1', end_vid_inclusive: '100' }];
    const population = { description: `life-${id}`, population_spec: { subpopulations: [{ vid_ranges }] } };
    const made = await operator.call('Populations/CreatePopulation', { population });
    expect(await consumer.client.call('Populations/GetPopulation', { name: made.name })).toEqual(made);
  });

  it('a provider creates event groups, sets capabilities, answers requisitions, and changes its keys', async () => {
    const { party, client } = provider;
    const { name: parent } = party;
    const file = { name: `life_${id}.proto`, package: `life_${id}`, message_type: [{ name: 'Metadata' }] };
    const service = 'EventGroupMetadataDescriptors';
    const descriptor = await client.call(`${service}/CreateEventGroupMetadataDescriptor`, {
      parent,
      event_group_metadata_descriptor: { descriptor_set: { file: [file] } },
      request_id: 'descriptor',
    });
    const found = await consumer.client.call(`${service}/BatchGetEventGroupMetadataDescriptors`, {
      parent: 'dataProviders/-',
      names: [descriptor.name],
    });
    expect(found.event_group_metadata_descriptors).toEqual([descriptor]);

    const offered = await offer('spring');
    expect(await offer('spring')).toEqual(offered);
    const event_group = { ...offered, event_templates: [{ type: 'life.Event' }] };
    const updated = await client.call('EventGroups/UpdateEventGroup', { event_group });
    expect(updated).toMatchObject({ event_templates: [{ type: 'life.Event' }] });
    expect((await client.call('EventGroups/ListEventGroups', { parent })).event_groups).toEqual([updated]);
    const data_availability_intervals = [
      { key: 'modelProviders/m/modelSuites/s/modelLines/l', value: INTERVAL },
    ];
    await client.call('DataProviders/ReplaceDataAvailabilityIntervals', {
      name: parent,
      data_availability_intervals,
    });
    const capable = await client.call('DataProviders/ReplaceDataProviderCapabilities', {
      name: parent,
      capabilities: { honest_majority_share_shuffle_supported: true },
    });
    expect(capable).toMatchObject({ data_availability_intervals, certificate: party.certificate });

    const asker = new StockConsumer(stock, consumer.client, consumer.party);
    const [first, second] = [
      await asker.create(asking(offered.name)),
      await asker.create(asking(offered.name)),
    ];
    const answers = [REFUSAL, REACH];
    const answering = new StockProvider(stock, client, party);
    expect(await answering.answer(() => answers.shift()!)).toEqual(['REFUSED', 'FULFILLED']);
    expect(await answering.answer(() => expect.fail('Nothing is left to answer.'))).toEqual([]);
    expect(await asker.wait(first.name)).toMatchObject({
      state: 'FAILED',
      failure: { reason: 'REQUISITION_REFUSED' },
    });
    expect(await asker.wait(second.name)).toMatchObject({ state: 'SUCCEEDED', failure: null });
    const { requisitions } = await client.call('Requisitions/ListRequisitions', {
      parent,
      filter: { states: ['REFUSED'] },
    });
    expect(requisitions).toMatchObject([
      { ...REFUSAL, measurement: first.name, measurement_state: 'FAILED' },
    ]);
    const { name } = requisitions[0];
    expect(await client.call('Requisitions/GetRequisition', { name })).toEqual(requisitions[0]);

    provider.party = await changeKeys(provider);
    const third = await asker.create(asking(offered.name));
    expect(await new StockProvider(stock, client, provider.party).answer(() => REACH)).toEqual(['FULFILLED']);
    const [result] = await asker.open(await asker.wait(third.name), trust);
    expect(result.reach.value).toBe('1234');
    const deleted = await client.call('EventGroups/DeleteEventGroup', { name: offered.name });
    expect(deleted).toMatchObject({ name: offered.name, state: 'DELETED' });
  });

  it('a consumer lists event groups, creates and cancels measurements, reads results, and changes its keys', async () => {
    const { client } = consumer;
    const { name: parent } = consumer.party;
    await offer('summer');
    const filter = { data_provider_in: [provider.party.name] };
    const { event_groups } = await client.call('EventGroups/ListEventGroups', { parent, filter });
    expect(event_groups).toMatchObject([
      { event_group_reference_id: 'summer', measurement_consumer: parent },
    ]);
    const [group] = event_groups;
    expect(await client.call('EventGroups/GetEventGroup', { name: group.name })).toEqual(group);

    const asker = new StockConsumer(stock, client, consumer.party);
    const [asked, unwanted] = [
      await asker.create(asking(group.name)),
      await asker.create(asking(group.name)),
    ];
    expect(await client.call('Measurements/GetMeasurement', { name: asked.name })).toEqual(asked);
    const open = await client.call('Measurements/ListMeasurements', {
      parent,
      filter: { states: ['AWAITING_REQUISITION_FULFILLMENT'] },
    });
    expect(open.measurements).toEqual([asked, unwanted]);
    const cancelled = await client.call('Measurements/CancelMeasurement', { name: unwanted.name });
    expect(cancelled.state).toBe('CANCELLED');
    expect(await new StockProvider(stock, provider.client, provider.party).answer(() => REACH)).toEqual([
      'FULFILLED',
    ]);
    const [result] = await asker.open(await asker.wait(asked.name), trust);
    expect(result.reach).toMatchObject({ value: '1234', noise_mechanism: 'CONTINUOUS_GAUSSIAN' });

    const requests = [await asker.request(asking(group.name)), await asker.request(asking(group.name))];
    const batch = await client.call('Measurements/BatchCreateMeasurements', { parent, requests });
    const names = batch.measurements.map(({ name }: Message) => name);
    expect(await client.call('Measurements/BatchGetMeasurements', { parent, names })).toEqual(batch);

    // `changeKeys` revokes the certificate that signed the measurements of the batch.
    consumer.party = await changeKeys(consumer);
    for (const name of names) {
      expect(await asker.wait(name)).toMatchObject({
        state: 'FAILED',
        failure: { reason: 'CERTIFICATE_REVOKED' },
      });
    }
    const changed = new StockConsumer(stock, client, consumer.party);
    const last = await changed.create(asking(group.name));
    expect(await new StockProvider(stock, provider.client, provider.party).answer(() => REACH)).toEqual([
      'FULFILLED',
    ]);
    expect(await changed.open(await changed.wait(last.name), trust)).toMatchObject([REACH]);
  });
});
