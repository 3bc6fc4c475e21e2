/** Lists requisitions with wrong certificates, signatures, keys or nonces, and the expected refusal of each. */
import { create } from '@bufbuild/protobuf';
import { AnySchema } from '@bufbuild/protobuf/wkt';
import {
  createEncryptionKeysets,
  createTrustStore,
  nonceHash,
  packEncryptionPublicKey,
} from '@measurement-exchange/consent';
import { ExchangeError, type ProtocolConfig, TYPE_URLS } from '@measurement-exchange/contract';
import { fails, NOW, otherLeaf, type SpoiledRow, strangersRoot, text, type World } from './requisitions.ts';

const noCertificate = new ExchangeError('CERTIFICATE_NOT_FOUND', 'No such certificate.');
const certificate = (world: World, change: object) => ({
  context: { fetchCertificate: async () => ({ ...world.certificate, ...change }) },
});
const flipped = (bytes: Uint8Array, at: number) => bytes.map((byte, i) => (i === at ? byte ^ 1 : byte));

export const SPOILED_CONSENT: SpoiledRow[] = [
  [
    'it is for another provider',
    'CONSENT_SIGNAL_INVALID',
    'is for dataProviders/chirper',
    () => ({
      relayed: { dataProvider: 'dataProviders/chirper' },
    }),
  ],
  [
    'its nonceHash is missing',
    'SPEC_INVALID',
    'has no nonceHash',
    () => ({ relayed: { nonceHash: undefined } as never }),
  ],
  [
    'its protocol is not offered',
    'DECLINED',
    'no settings for the protocol',
    () => ({
      relayed: { protocolConfig: { liquidLegionsV2: {} } as ProtocolConfig },
    }),
  ],
  [
    'the consumer certificate belongs to another party',
    'CONSENT_SIGNAL_INVALID',
    'not a certificate of',
    () => ({
      relayed: { measurementConsumerCertificate: 'measurementConsumers/globex/certificates/c1' },
    }),
  ],
  [
    'the certificate does not exist',
    'CONSENT_SIGNAL_INVALID',
    'the exchange has no',
    () => ({
      context: { fetchCertificate: fails(noCertificate) },
    }),
  ],
  [
    'the certificate is revoked',
    'CONSENT_SIGNAL_INVALID',
    'revoked (REVOKED)',
    (world) => certificate(world, { revocationState: 'REVOKED' }),
  ],
  [
    'the certificate is on hold',
    'CONSENT_SIGNAL_INVALID',
    'revoked (HOLD)',
    (world) => certificate(world, { revocationState: 'HOLD' }),
  ],
  [
    'the certificate is malformed',
    'CONSENT_SIGNAL_INVALID',
    'CERTIFICATE_MALFORMED',
    (world) => certificate(world, { x509Der: Uint8Array.of(0x30, 3, 2, 1, 1) }),
  ],
  [
    'no trusted root issued the certificate',
    'CONSENT_SIGNAL_INVALID',
    'CERTIFICATE_UNTRUSTED',
    async () => {
      const { certificate } = await otherLeaf(await strangersRoot());
      return { context: { fetchCertificate: async () => certificate } };
    },
  ],
  [
    'the root is trusted only for another party',
    'CONSENT_SIGNAL_INVALID',
    'CERTIFICATE_OF_ANOTHER_PARTY',
    (world) => ({
      context: {
        trust: createTrustStore([
          { party: 'measurementConsumers/globex', pem: world.consumer.root.certificatePem },
        ]),
      },
    }),
  ],
  [
    'the certificate has expired',
    'CONSENT_SIGNAL_INVALID',
    'CERTIFICATE_EXPIRED',
    () => ({
      context: { now: new Date(NOW + 366 * 86_400_000) },
    }),
  ],
  [
    'another key signed the MeasurementSpec',
    'CONSENT_SIGNAL_INVALID',
    'SIGNATURE_INVALID',
    async (world) => ({
      specKeyPem: (await otherLeaf(world.consumer.root)).privateKeyPem,
    }),
  ],
  [
    'the MeasurementSpec was altered',
    'CONSENT_SIGNAL_INVALID',
    'SIGNATURE_INVALID',
    async (world) => {
      const { measurementSpec } = await world.requisition();
      return {
        relayed: { measurementSpec: { ...measurementSpec!, message: flipped(measurementSpec!.message, 40) } },
      };
    },
  ],
  [
    'the signature algorithm is unknown',
    'CONSENT_SIGNAL_INVALID',
    'SIGNATURE_ALGORITHM_UNKNOWN',
    async (world) => {
      const { measurementSpec } = await world.requisition();
      return { relayed: { measurementSpec: { ...measurementSpec!, signatureAlgorithm: '1.2.3' } as never } };
    },
  ],
  [
    'the public key does not belong to the provider',
    'CONSENT_SIGNAL_INVALID',
    'not a key of this provider',
    () => ({
      relayed: {
        dataProviderPublicKey: { '@type': TYPE_URLS.EncryptionPublicKey, data: Uint8Array.of(8, 1) },
      },
    }),
  ],
  [
    'it is encrypted with the key of another party',
    'CONSENT_SIGNAL_INVALID',
    'NO_MATCHING_KEY',
    (world) => ({
      encryptTo: world.consumer.keysets.publicKeyset,
    }),
  ],
  [
    'its ciphertext was altered',
    'CONSENT_SIGNAL_INVALID',
    'DECRYPTION_FAILED',
    async (world) => {
      const { encryptedRequisitionSpec: sent } = await world.requisition();
      return {
        relayed: { encryptedRequisitionSpec: { ...sent!, ciphertext: flipped(sent!.ciphertext, 100) } },
      };
    },
  ],
  [
    'its ciphertext is truncated',
    'CONSENT_SIGNAL_INVALID',
    'CIPHERTEXT_TRUNCATED',
    async (world) => {
      const { encryptedRequisitionSpec: sent } = await world.requisition();
      return {
        relayed: { encryptedRequisitionSpec: { ...sent!, ciphertext: sent!.ciphertext.slice(0, 20) } },
      };
    },
  ],
  [
    'another key signed the RequisitionSpec',
    'CONSENT_SIGNAL_INVALID',
    'SIGNATURE_INVALID',
    async (world) => ({
      requisitionSpecKeyPem: (await otherLeaf(world.consumer.root)).privateKeyPem,
    }),
  ],
  [
    'the RequisitionSpec cannot be decoded',
    'SPEC_INVALID',
    'cannot be read',
    () => ({
      requisitionSpec: Uint8Array.of(0x22, 0x7f),
    }),
  ],
  [
    'the RequisitionSpec has an unknown member',
    'SPEC_INVALID',
    'cannot be read',
    () => ({
      requisitionSpec: text({ nonce: 1, evnts: {} }),
    }),
  ],
  [
    'the MeasurementSpec and the RequisitionSpec have different public keys',
    'CONSENT_SIGNAL_INVALID',
    'differ in measurementPublicKey',
    async () => {
      const value = packEncryptionPublicKey((await createEncryptionKeysets()).publicKeyset);
      const typeUrl = TYPE_URLS.EncryptionPublicKey;
      return { requisitionSpec: { measurementPublicKey: create(AnySchema, { typeUrl, value }) } };
    },
  ],
  [
    'the key for the result is malformed',
    'SPEC_INVALID',
    'measurementPublicKey',
    () => {
      const value = packEncryptionPublicKey(Uint8Array.of(1, 2, 3));
      const key = {
        measurementPublicKey: create(AnySchema, { typeUrl: TYPE_URLS.EncryptionPublicKey, value }),
      };
      return { spec: key, requisitionSpec: key };
    },
  ],
  [
    'the nonce does not match its hash',
    'CONSENT_SIGNAL_INVALID',
    'does not hash to nonceHash',
    () => ({ requisitionSpec: { nonce: 5n } }),
  ],
  [
    'the nonce is zero',
    'CONSENT_SIGNAL_INVALID',
    'does not hash to nonceHash',
    async () => ({
      requisitionSpec: { nonce: 0n },
      relayed: { nonceHash: await nonceHash(0n) },
    }),
  ],
  [
    'the nonce hash is not among the signed nonce hashes',
    'CONSENT_SIGNAL_INVALID',
    'not among the nonceHashes',
    () => ({
      spec: { nonceHashes: [new Uint8Array(32)] },
    }),
  ],
];
