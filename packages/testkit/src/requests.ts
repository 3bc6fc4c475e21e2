/** Valid requests from the demo parties of development mode. This file needs no server. */
import { createHash, randomBytes, sign } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { specs, TYPE_URLS } from '@measurement-exchange/contract';

export interface DevParty {
  name: string;
  token: string;
  certificate: string;
  privateKeyPem: string;
  encryptionPublicKey: string;
  clientCertificatePem: string;
  clientPrivateKeyPem: string;
}

export interface DevJson {
  baseUrl: string;
  grpc: { address: string; rootPem: string };
  operator: { token: string };
  measurementConsumers: DevParty[];
  dataProviders: DevParty[];
}

export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, v) => (typeof v === 'bigint' ? JSON.rawJSON(v.toString()) : v));
}

/** Hashes the nonce, encoded as 8 bytes in big-endian order, with SHA-256. Returns the hash in base64. */
export function nonceHash(nonce: bigint): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(nonce);
  return createHash('sha256').update(bytes).digest('base64');
}

/** A serialized MeasurementSpec of a reach measurement. */
export function reachSpec(publicKey: string, nonces: bigint[], epsilon = 0.5): Uint8Array {
  const key = create(specs.EncryptionPublicKeySchema, {
    format: specs.EncryptionPublicKey_Format.TINK_KEYSET,
    data: Buffer.from(publicKey, 'base64'),
  });
  return toBinary(
    specs.MeasurementSpecSchema,
    create(specs.MeasurementSpecSchema, {
      measurementPublicKey: anyPack(specs.EncryptionPublicKeySchema, key),
      nonceHashes: nonces.map((nonce) => Buffer.from(nonceHash(nonce), 'base64')),
      vidSamplingInterval: { start: 0, width: 1 },
      measurementType: { case: 'reach', value: { privacyParams: { epsilon, delta: 1e-9 } } },
    }),
  );
}

/** A valid CreateMeasurement request. By default, the providers' nonces are 1, 2, 3, …, in the order of `providers`. */
export function measurementRequest(consumer: DevParty, providers: DevParty[], nonces?: bigint[]) {
  const all = nonces ?? providers.map((_, i) => BigInt(i + 1));
  const message = reachSpec(consumer.encryptionPublicKey, all);
  return {
    measurementConsumerCertificate: consumer.certificate,
    measurementSpec: {
      message: Buffer.from(message).toString('base64'),
      signature: sign('sha256', message, consumer.privateKeyPem).toString('base64'),
      signatureAlgorithm: 'ECDSA_P256_SHA256',
    },
    dataProviders: Object.fromEntries(
      providers.map((provider, i) => [
        provider.name,
        {
          dataProviderCertificate: provider.certificate,
          dataProviderPublicKey: {
            '@type': TYPE_URLS.EncryptionPublicKey as string,
            data: provider.encryptionPublicKey,
          },
          encryptedRequisitionSpec: {
            ciphertext: randomBytes(200).toString('base64'),
            typeUrl: TYPE_URLS.RequisitionSpec as string,
          },
          nonceHash: nonceHash(all[i]!),
        },
      ]),
    ),
  };
}

/** A fulfillDirect request, which is valid if `requisition` has the current etag. */
export function fulfillment(provider: DevParty, requisition: { etag: string }, nonce: bigint) {
  return {
    encryptedResult: {
      ciphertext: randomBytes(100).toString('base64'),
      typeUrl: TYPE_URLS.MeasurementResult as string,
    },
    nonce,
    certificate: provider.certificate,
    etag: requisition.etag,
  };
}

/** A valid createReport request with these measurements. Each measurement gets a random key. */
export function reportRequest(measurements: string[] = []) {
  return {
    sealedDefinition: {
      ciphertext: randomBytes(300).toString('base64'),
      typeUrl: TYPE_URLS.ReportDefinition as string,
    },
    definitionHash: randomBytes(32).toString('base64'),
    measurements: measurements.map((measurement) => ({ key: reportKey(), measurement })),
  };
}

export function reportKey(): string {
  return randomBytes(32).toString('hex');
}
