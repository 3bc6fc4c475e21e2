/**
 * A measurement consumer and a data provider that behave like those of the public reference system: the same calls in
 * the same order, the same comparisons, the same encryption.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Message, Stock, StockClient } from './stock.ts';
import {
  hashOf,
  keyOf,
  opened,
  packed,
  type StockParty,
  same,
  sealed,
  signed,
  unpacked,
  verified,
} from './stockMessages.ts';

export interface StockQuestion {
  /**
   * Fields of the MeasurementSpec that define the type of the measurement. `request` adds the key, the nonce hashes,
   * and `vidSamplingInterval`, which selects all VIDs by default.
   */
  measurementType: Message;
  vidSamplingInterval?: { start: number; width: number };
  /** Each data provider has its own event groups. */
  dataProviders: { name: string; eventGroups: Message[] }[];
  requestId?: string;
}

export class StockConsumer {
  private readonly stock: Stock;
  private readonly client: StockClient;
  private readonly party: StockParty;

  constructor(stock: Stock, client: StockClient, party: StockParty) {
    this.stock = stock;
    this.client = client;
    this.party = party;
  }

  async create(question: StockQuestion): Promise<Message> {
    return this.client.call('Measurements/CreateMeasurement', await this.request(question));
  }

  /** Reads the consumer and each data provider from the exchange, and returns a request to create the measurement. */
  async request({ measurementType, vidSamplingInterval, dataProviders, requestId }: StockQuestion) {
    const { stock, client, party } = this;
    const { name: parent } = party;
    const self = await client.call('MeasurementConsumers/GetMeasurementConsumer', { name: parent });
    const own = verified(stock, 'EncryptionPublicKey', self.public_key, self.certificate_der);
    if (!same(own.data, keyOf(party).data)) throw new Error('The exchange has another key of the consumer.');
    const measurementPublicKey = packed(stock, 'EncryptionPublicKey', own);
    const nonces = dataProviders.map(() => randomBytes(8).readBigUInt64BE());
    const entries = await Promise.all(
      dataProviders.map(async ({ name, eventGroups }, i) => {
        const provider = await client.call('DataProviders/GetDataProvider', { name });
        const key = verified(stock, 'EncryptionPublicKey', provider.public_key, provider.certificate_der);
        const spec = {
          events: { event_groups: eventGroups },
          measurement_public_key: measurementPublicKey,
          nonce: nonces[i]!.toString(),
        };
        const value = {
          data_provider_certificate: provider.certificate,
          data_provider_public_key: provider.public_key.message,
          encrypted_requisition_spec: await sealed(stock, signed(stock, 'RequisitionSpec', spec, party), key),
          nonce_hash: hashOf(nonces[i]!),
        };
        return { key: name, value };
      }),
    );
    const spec = {
      measurement_public_key: measurementPublicKey,
      nonce_hashes: nonces.map(hashOf),
      vid_sampling_interval: vidSamplingInterval ?? { start: 0, width: 1 },
      ...measurementType,
    };
    const measurement = {
      measurement_consumer_certificate: self.certificate,
      measurement_spec: signed(stock, 'MeasurementSpec', spec, party),
      data_providers: entries,
      measurement_reference_id: 'stock',
    };
    return { parent, measurement, request_id: requestId ?? randomUUID() };
  }

  /** Polls until the measurement has ended. */
  async wait(name: string): Promise<Message> {
    for (;;) {
      const measurement = await this.client.call('Measurements/GetMeasurement', { name });
      if (!['AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING'].includes(measurement.state)) return measurement;
      await sleep(20);
    }
  }

  /** Decrypts and verifies the results. `trust` must throw for a certificate that it does not trust. */
  async open(
    measurement: Message,
    trust: (x509Der: Uint8Array, name: string) => Promise<void>,
  ): Promise<Message[]> {
    const { stock, client, party } = this;
    return Promise.all(
      measurement.results.map(async ({ encrypted_result: encrypted, certificate: name }: Message) => {
        const { x509_der: der } = await client.call('Certificates/GetCertificate', { name });
        await trust(der, name);
        return verified(stock, 'Measurement.Result', await opened(stock, encrypted, party), der);
      }),
    );
  }
}

export class StockProvider {
  private readonly stock: Stock;
  private readonly client: StockClient;
  private readonly party: StockParty;

  constructor(stock: Stock, client: StockClient, party: StockParty) {
    this.stock = stock;
    this.client = client;
    this.party = party;
  }

  /**
   * Fulfills or refuses each open requisition of the first page, and returns the new states. The requests contain no
   * etags. `compute` returns a Measurement.Result or a refusal.
   */
  async answer(compute: (spec: Message, requisitionSpec: Message) => Message): Promise<string[]> {
    const { client, party } = this;
    const filter = { states: ['UNFULFILLED'] };
    const { requisitions } = await client.call('Requisitions/ListRequisitions', {
      parent: party.name,
      filter,
    });
    const states: string[] = [];
    for (const requisition of requisitions) {
      const { spec, requisitionSpec } = await this.read(requisition);
      const { refusal, ...result } = compute(spec, requisitionSpec);
      states.push(
        refusal === undefined
          ? await this.fulfill(requisition, spec, requisitionSpec, result)
          : (await client.call('Requisitions/RefuseRequisition', { name: requisition.name, refusal })).state,
      );
    }
    return states;
  }

  /** Verifies every part of a requisition, or throws. Returns its MeasurementSpec and RequisitionSpec. */
  private async read(requisition: Message) {
    const { stock, client, party } = this;
    if (!requisition.name.startsWith(`${party.name}/requisitions/`)) throw new Error(requisition.name);
    if (requisition.data_provider_certificate !== party.certificate) {
      throw new Error(`The certificate is ${requisition.data_provider_certificate}`);
    }
    const name = requisition.measurement_consumer_certificate;
    const { x509_der: der } = await client.call('Certificates/GetCertificate', { name });
    const spec = verified(stock, 'MeasurementSpec', requisition.measurement_spec, der);
    // Compare the whole key message, not only its keyset.
    const ownKey = packed(stock, 'EncryptionPublicKey', keyOf(party));
    const theirs = requisition.data_provider_public_key;
    if (theirs.type_url !== ownKey.type_url || !same(theirs.value, ownKey.value)) {
      throw new Error('The public key is of somebody else.');
    }
    const inner = await opened(stock, requisition.encrypted_requisition_spec, party);
    const requisitionSpec = verified(stock, 'RequisitionSpec', inner, der);
    if (!same(requisitionSpec.measurement_public_key.value, spec.measurement_public_key.value)) {
      throw new Error('The specs name different public keys.');
    }
    const hash = hashOf(requisitionSpec.nonce);
    if (!spec.nonce_hashes.some((one: Buffer) => same(hash, one))) throw new Error('No hash of the nonce.');
    return { spec, requisitionSpec };
  }

  private async fulfill(requisition: Message, spec: Message, { nonce }: Message, result: Message) {
    const { stock, client, party } = this;
    const [{ direct } = {} as Message, ...others] = requisition.protocol_config.protocols;
    if (others.length > 0 || !direct?.noise_mechanisms.includes('CONTINUOUS_GAUSSIAN')) {
      throw new Error('The noise of this provider is not allowed.');
    }
    const key = unpacked(stock, 'EncryptionPublicKey', spec.measurement_public_key);
    const { state } = await client.call('Requisitions/FulfillDirectRequisition', {
      name: requisition.name,
      encrypted_result: await sealed(stock, signed(stock, 'Measurement.Result', result, party), key),
      nonce,
      certificate: party.certificate,
      fulfillment_context: { build_label: 'stock-1' },
    });
    return state;
  }
}
