/** Tests DataProviders, MeasurementConsumers and PublicKeys over gRPC. */

import { sign } from 'node:crypto';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { specs } from '@measurement-exchange/contract';
import { DataProviders, MeasurementConsumers, PublicKeys } from '@measurement-exchange/contract/rpc';
import { newCertificate } from '@measurement-exchange/testkit/certificates';
import { type DevParty, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { clientOf, failureOf, keyOf } from '@measurement-exchange/testkit/rpc';
import { castOf, get, ok, post } from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';

const exchange = useExchange({ rate: UNLIMITED });
const dataProviders = ({ token }: { token: string }) => clientOf(exchange.dev, DataProviders, { token });
const INVALID = 'invalid_argument INVALID_FIELD_VALUE';
const at = (iso: string) => ({ seconds: BigInt(Date.parse(iso) / 1000) });
const LINE = 'modelProviders/m/modelSuites/s/modelLines/l';

async function derOf(party: DevParty): Promise<Uint8Array> {
  const { x509Der } = await get(exchange, party, party.certificate);
  return new Uint8Array(Buffer.from(x509Der, 'base64'));
}

describe('a party', () => {
  it('is returned with its public key, and with the certificate that signed the key', async () => {
    const { acme, streamly } = castOf(exchange);
    const provider = await dataProviders(acme).getDataProvider({ name: streamly.name });
    expect(provider).toMatchObject({
      name: streamly.name,
      displayName: 'Streamly TV',
      certificate: streamly.certificate,
      certificateDer: await derOf(streamly),
    });
    expect(provider.publicKey!.message).toEqual(anyPack(specs.EncryptionPublicKeySchema, keyOf(streamly)));
    expect(provider.publicKey!.data).toEqual(provider.publicKey!.message!.value);
    const { token } = streamly;
    const consumers = clientOf(exchange.dev, MeasurementConsumers, { token });
    expect(await consumers.getMeasurementConsumer({ name: acme.name })).toMatchObject({
      name: acme.name,
      certificate: acme.certificate,
      certificateDer: await derOf(acme),
      publicKey: { message: anyPack(specs.EncryptionPublicKeySchema, keyOf(acme)) },
    });

    // Adding another certificate does not change `certificate`, which is the one that signed the public key.
    const { x509Der } = await newCertificate();
    await ok(post(exchange, streamly, `${streamly.name}/certificates`, { x509Der }));
    expect(await dataProviders(acme).getDataProvider({ name: streamly.name })).toEqual(provider);
  });

  it('cannot be read by other consumers or other providers', async () => {
    const { acme, globex, streamly, chirper } = castOf(exchange);
    const consumers = clientOf(exchange.dev, MeasurementConsumers, { token: globex.token });
    const denied = 'permission_denied PERMISSION_DENIED';
    expect(await failureOf(consumers.getMeasurementConsumer({ name: acme.name }))).toBe(denied);
    expect(await failureOf(dataProviders(chirper).getDataProvider({ name: streamly.name }))).toBe(denied);
    expect(await failureOf(dataProviders(acme).getDataProvider({ name: 'dataProviders/none' }))).toBe(
      'not_found DATA_PROVIDER_NOT_FOUND',
    );
    expect(await failureOf(consumers.createMeasurementConsumer({}))).toBe('unimplemented METHOD_NOT_ALLOWED');
  });
});

describe('a data provider', () => {
  it('replaces its availability as a whole and by model line', async () => {
    const { streamly } = castOf(exchange);
    const client = dataProviders(streamly);
    const { name } = streamly;
    const dataAvailabilityInterval = {
      startTime: at('2026-01-01T00:00:00Z'),
      endTime: at('2026-06-01T00:00:00Z'),
    };
    const replaced = await client.replaceDataAvailabilityInterval({ name, dataAvailabilityInterval });
    expect(replaced.dataAvailabilityInterval).toMatchObject(dataAvailabilityInterval);
    const entry = { key: LINE, value: { startTime: at('2026-02-01T00:00:00Z') } };
    const by = (dataAvailabilityIntervals: (typeof entry)[]) =>
      client.replaceDataAvailabilityIntervals({ name, dataAvailabilityIntervals });
    const both = await by([entry]);
    expect(both).toMatchObject({ dataAvailabilityInterval, dataAvailabilityIntervals: [entry] });
    expect(await client.getDataProvider({ name })).toEqual(both);
    expect((await get(exchange, streamly, name)).dataAvailabilityIntervals).toEqual([
      { modelLine: LINE, interval: { startTime: '2026-02-01T00:00:00.000000Z' } },
    ]);
    expect(await failureOf(by([entry, entry]))).toBe(`${INVALID} data_availability_intervals[1].key`);
    expect((await by([])).dataAvailabilityIntervals).toEqual([]);

    const wrong = { ...dataAvailabilityInterval, endTime: dataAvailabilityInterval.startTime };
    expect(
      await failureOf(client.replaceDataAvailabilityInterval({ name, dataAvailabilityInterval: wrong })),
    ).toBe(`${INVALID} data_availability_interval.end_time`);
    expect(await failureOf(client.replaceDataAvailabilityInterval({ name }))).toBe(
      'invalid_argument REQUIRED_FIELD_NOT_SET data_availability_interval',
    );
  });

  it('replaces its capabilities, and keeps those that the message has no fields for', async () => {
    const { streamly } = castOf(exchange);
    const client = dataProviders(streamly);
    const { name } = streamly;
    const before = { liquidLegionsV2Supported: true, reachOnlyLiquidLegionsV2Supported: true };
    const path = `/v2alpha/${name}`;
    await ok(exchange.call(streamly.token, 'PATCH', path, { capabilities: before }));
    const capabilities = {
      honestMajorityShareShuffleSupported: true,
      trusTeeSupported: true,
      noiseMechanismDeterministicTruncatedLaplaceSupported: true,
    };
    const replaced = await client.replaceDataProviderCapabilities({ name, capabilities });
    expect(replaced.capabilities).toMatchObject({ ...capabilities, noiseMechanismNoneSupported: false });
    expect(await client.getDataProvider({ name })).toEqual(replaced);
    expect((await get(exchange, streamly, name)).capabilities).toEqual({ ...before, ...capabilities });
    const none = await client.replaceDataProviderCapabilities({ name, capabilities: {} });
    expect(none.capabilities).toMatchObject({ honestMajorityShareShuffleSupported: false });
    expect((await get(exchange, streamly, name)).capabilities).toEqual(before);
    expect(await failureOf(client.replaceDataProviderCapabilities({ name }))).toBe(
      'invalid_argument REQUIRED_FIELD_NOT_SET capabilities',
    );
    expect(await failureOf(client.replaceDataProviderRequiredDuchies({ name }))).toBe(
      'unimplemented METHOD_NOT_ALLOWED',
    );
  });
});

it('a public key can be set before the party has a certificate', async () => {
  const { acme } = castOf(exchange);
  const { operator } = exchange.dev;
  const path = '/v2alpha/dataProviders?dataProviderId=bare';
  await ok(exchange.call(operator.token, 'POST', path, {}));
  const message = anyPack(specs.EncryptionPublicKeySchema, keyOf(acme));
  const publicKey = { message, signature: Uint8Array.of(1) };
  const name = 'dataProviders/bare/publicKey';
  const client = clientOf(exchange.dev, PublicKeys, { token: operator.token });
  const updated = await client.updatePublicKey({ publicKey: { name, publicKey } });
  expect(updated).toMatchObject({ name, publicKey, certificate: '' });
});

it('a public key is replaced together with the certificate that signed it', async () => {
  const { chirper, acme } = castOf(exchange);
  const client = clientOf(exchange.dev, PublicKeys, { token: chirper.token });
  const name = `${chirper.name}/publicKey`;
  const message = anyPack(specs.EncryptionPublicKeySchema, keyOf(acme));
  const signature = new Uint8Array(sign('sha256', message.value, chirper.privateKeyPem));
  const publicKey = { message, signature, signatureAlgorithmOid: '1.2.840.10045.4.3.2' };
  const update = (certificate: string, key: typeof publicKey | undefined = publicKey) =>
    client.updatePublicKey({ publicKey: { name, publicKey: key!, certificate } });
  const updated = await update(chirper.certificate);
  expect(updated).toMatchObject({ name, publicKey, certificate: chirper.certificate });
  const provider = await dataProviders(chirper).getDataProvider({ name: chirper.name });
  expect(provider).toMatchObject({ publicKey, certificate: chirper.certificate });

  expect(await failureOf(update(acme.certificate))).toBe(`${INVALID} public_key.certificate`);
  expect(await failureOf(update(`${chirper.name}/certificates/none`))).toBe(
    `${INVALID} public_key.certificate`,
  );
  const unreadable = { ...publicKey, message: { ...message, value: Uint8Array.of(7) } };
  expect(await failureOf(update('', unreadable))).toBe(`${INVALID} public_key.public_key.message`);
  expect(await failureOf(client.updatePublicKey({ publicKey: { name } }))).toBe(
    'invalid_argument REQUIRED_FIELD_NOT_SET public_key.public_key',
  );
  const foreign = { name: `${acme.name}/publicKey`, publicKey };
  expect(await failureOf(client.updatePublicKey({ publicKey: foreign }))).toBe(
    'permission_denied PERMISSION_DENIED',
  );
  expect(await failureOf(client.updatePublicKey({ publicKey: { publicKey } }))).toMatch(/public_key\.name$/);
});
