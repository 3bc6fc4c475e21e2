/** Requisitions that can never be fulfilled: what is wrong with each, and what it is refused with. */
import { create } from '@bufbuild/protobuf';
import { AnySchema } from '@bufbuild/protobuf/wkt';
import {
  createEncryptionKeysets,
  createTrustStore,
  nonceHash,
  packEncryptionPublicKey,
} from '@measurement-exchange/consent';
import { ExchangeError, type RefusalJustification, TYPE_URLS } from '@measurement-exchange/contract';
import type { VerifyContext } from '../../src/provider/verify.ts';
import {
  CONSUMER,
  type Draft,
  entry,
  eventGroups,
  NOW,
  otherLeaf,
  SPRING,
  type SpecInit,
  strangersRoot,
  type World,
} from './requisitions.ts';

export const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
export const privacy = (epsilon: number, delta = 1e-9) => ({ privacyParams: { epsilon, delta } });
const reach = (epsilon: number, delta?: number): SpecInit => ({
  measurementType: { case: 'reach', value: privacy(epsilon, delta) },
});

export type Spoiled = Draft & { context?: Partial<VerifyContext> };
/** `says` is a part of the refusal's message, or the code of the fault behind it. */
export type Row = [
  what: string,
  justification: RefusalJustification,
  says: string,
  spoil: (world: World) => Spoiled | Promise<Spoiled>,
];

const noCertificate = new ExchangeError('CERTIFICATE_NOT_FOUND', 'No such certificate.');
const noGroup = new ExchangeError('EVENT_GROUP_NOT_FOUND', 'No such event group.');
export const fails = (error: Error) => () => Promise.reject(error);
const certificate = (world: World, change: object) => ({
  context: { fetchCertificate: async () => ({ ...world.certificate, ...change }) },
});
export const group = (world: World, change: object) => ({
  fetchEventGroup: async () => ({ ...world.eventGroup, ...change }) as never,
});
const events = (...entries: ReturnType<typeof entry>[]) => ({ requisitionSpec: eventGroups(...entries) });
const flipped = (bytes: Uint8Array, at: number) => bytes.map((byte, i) => (i === at ? byte ^ 1 : byte));

export const SPOILED: Row[] = [
  [
    'it is for another provider',
    'CONSENT_SIGNAL_INVALID',
    'is for dataProviders/chirper',
    () => ({
      relayed: { dataProvider: 'dataProviders/chirper' },
    }),
  ],
  [
    'a part of it is missing',
    'SPEC_INVALID',
    'has no nonceHash',
    () => ({ relayed: { nonceHash: undefined } as never }),
  ],
  [
    'its protocol is not offered',
    'DECLINED',
    'no settings for the protocol',
    () => ({
      relayed: { protocolConfig: { liquidLegionsV2: {} } },
    }),
  ],
  [
    'the certificate is another party’s',
    'CONSENT_SIGNAL_INVALID',
    'no certificate of',
    () => ({
      relayed: { measurementConsumerCertificate: 'measurementConsumers/globex/certificates/c1' },
    }),
  ],
  [
    'the certificate does not exist',
    'CONSENT_SIGNAL_INVALID',
    'does not exist',
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
    'the certificate is no certificate',
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
    'the root is trusted for another party only',
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
    'the MeasurementSpec cannot be decoded',
    'SPEC_INVALID',
    'cannot be read',
    () => ({ spec: Uint8Array.of(0x12, 0xff) }),
  ],
  [
    'the MeasurementSpec is broken JSON',
    'SPEC_INVALID',
    'cannot be read',
    () => ({ spec: text({}).slice(0, 1) }),
  ],
  [
    'no measurement type is set',
    'SPEC_INVALID',
    'no measurement type',
    () => ({
      spec: { measurementType: { case: undefined } },
    }),
  ],
  ['epsilon is zero', 'SPEC_INVALID', 'reach.privacyParams.epsilon', () => ({ spec: reach(0) })],
  ['epsilon is not a number', 'SPEC_INVALID', 'epsilon', () => ({ spec: reach(Number.NaN) })],
  [
    'epsilon is absurdly small',
    'SPEC_INVALID',
    'epsilon of the MeasurementSpec must be',
    () => ({ spec: reach(1e-9) }),
  ],
  [
    'epsilon is absurdly large',
    'SPEC_INVALID',
    'epsilon of the MeasurementSpec must be',
    () => ({ spec: reach(1e9) }),
  ],
  [
    'delta is absurdly small',
    'SPEC_INVALID',
    'delta of the MeasurementSpec must be',
    () => ({ spec: reach(1, 1e-300) }),
  ],
  ['delta is one', 'SPEC_INVALID', 'delta', () => ({ spec: reach(1, 1) })],
  [
    'privacy parameters are missing',
    'SPEC_INVALID',
    'privacyParams',
    () => ({
      spec: { measurementType: { case: 'reach', value: {} } },
    }),
  ],
  [
    'the sampling interval runs over 1',
    'SPEC_INVALID',
    'start + width',
    () => ({
      spec: { vidSamplingInterval: { start: 0.75, width: 0.5 } },
    }),
  ],
  [
    'the sampling interval is missing',
    'SPEC_INVALID',
    'vidSamplingInterval',
    () => ({
      spec: { vidSamplingInterval: undefined },
    }),
  ],
  [
    'nobody fits into the sampling interval',
    'SPEC_INVALID',
    'vidSamplingInterval.width',
    () => ({
      spec: { vidSamplingInterval: { start: 0, width: 1e-9 } },
    }),
  ],
  ['the maximum frequency is 1', 'SPEC_INVALID', 'maximumFrequency', () => frequency(1)],
  ['the maximum frequency is a million', 'SPEC_INVALID', 'maximumFrequency', () => frequency(1_000_000)],
  [
    'the impressions of a user are not capped',
    'SPEC_INVALID',
    'maximumFrequencyPerUser',
    () => ({
      spec: { measurementType: { case: 'impression', value: { ...privacy(1), maximumFrequencyPerUser: 0 } } },
    }),
  ],
  [
    'the duration of a user is capped below a millisecond',
    'SPEC_INVALID',
    'maximumWatchDurationPerUser',
    () => ({
      spec: {
        measurementType: {
          case: 'duration',
          value: { ...privacy(1), maximumWatchDurationPerUser: { seconds: 0n, nanos: 999_999 } },
        },
      },
    }),
  ],
  [
    'the provider’s key is not one of ours',
    'CONSENT_SIGNAL_INVALID',
    'no key of this provider',
    () => ({
      relayed: {
        dataProviderPublicKey: { '@type': TYPE_URLS.EncryptionPublicKey, data: Uint8Array.of(8, 1) },
      },
    }),
  ],
  [
    'it was encrypted for somebody else',
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
    'its ciphertext is cut off',
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
    'the RequisitionSpec has members nobody knows',
    'SPEC_INVALID',
    'cannot be read',
    () => ({
      requisitionSpec: text({ nonce: 1, evnts: {} }),
    }),
  ],
  [
    'the specifications name different keys',
    'CONSENT_SIGNAL_INVALID',
    'differ in measurementPublicKey',
    async () => {
      const value = packEncryptionPublicKey((await createEncryptionKeysets()).publicKeyset);
      const typeUrl = TYPE_URLS.EncryptionPublicKey;
      return { requisitionSpec: { measurementPublicKey: create(AnySchema, { typeUrl, value }) } };
    },
  ],
  [
    'the key for the result is no key',
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
    'the nonce is another',
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
    'the nonce hash is not a signed one',
    'CONSENT_SIGNAL_INVALID',
    'none of the nonceHashes',
    () => ({
      spec: { nonceHashes: [new Uint8Array(32)] },
    }),
  ],
  [
    'a population is asked of events',
    'SPEC_INVALID',
    'selects event groups',
    () => ({
      requisitionSpec: { selection: { case: 'population', value: {} } },
    }),
  ],
  [
    'events are asked of a population',
    'SPEC_INVALID',
    'selects a population',
    () => ({
      spec: { measurementType: { case: 'population', value: {} } },
    }),
  ],
  ['no event group is selected', 'SPEC_INVALID', 'selects event groups', () => events()],
  ['an event group is selected twice', 'SPEC_INVALID', 'twice', () => events(entry(SPRING), entry(SPRING))],
  [
    'an interval ends where it starts',
    'SPEC_INVALID',
    'must start before it ends',
    () => events(entry(SPRING, '', [2, 2])),
  ],
  [
    'an interval ends before it starts',
    'SPEC_INVALID',
    'must start before it ends',
    () => events(entry(SPRING, '', [3, 2])),
  ],
  [
    'an interval is missing',
    'SPEC_INVALID',
    'must start before it ends',
    () => events({ key: SPRING, value: {} } as never),
  ],
  [
    'an interval spans centuries',
    'SPEC_INVALID',
    'exceeds 10000 days',
    () => events(entry(SPRING, '', [1, 20_000])),
  ],
  [
    'an event group is another provider’s',
    'SPEC_INVALID',
    'is no event group of',
    () => events(entry('dataProviders/chirper/eventGroups/spring')),
  ],
  ['an event group has no name', 'SPEC_INVALID', 'is no event group of', () => events(entry('spring'))],
  [
    'an event group does not exist',
    'SPEC_INVALID',
    'does not exist',
    () => ({
      context: { fetchEventGroup: fails(noGroup) },
    }),
  ],
  [
    'an event group is deleted',
    'SPEC_INVALID',
    'is DELETED',
    (world) => ({ context: group(world, { state: 'DELETED' }) }),
  ],
  [
    'an event group is another consumer’s',
    'SPEC_INVALID',
    `is not for ${CONSUMER}`,
    (world) => ({
      context: group(world, { measurementConsumer: 'measurementConsumers/globex' }),
    }),
  ],
  [
    'an event group is about events that no settings list',
    'SPEC_INVALID',
    'references does not list',
    (world) => ({ context: group(world, { eventGroupReferenceId: 'summer' }) }),
  ],
  [
    'an event group is about a name that every object has',
    'SPEC_INVALID',
    'references does not list',
    (world) => ({ context: group(world, { eventGroupReferenceId: 'constructor' }) }),
  ],
  [
    'an event group is about another consumer’s events',
    'SPEC_INVALID',
    `references does not list ${CONSUMER}`,
    () => ({
      context: { references: { spring: { measurementConsumers: ['measurementConsumers/globex'] } } },
    }),
  ],
  [
    'an event group has no reference in the events',
    'SPEC_INVALID',
    'has no eventGroupReferenceId',
    (world) => ({ context: group(world, { eventGroupReferenceId: undefined }) }),
  ],
  [
    'the events began to be recorded later',
    'UNFULFILLABLE',
    'has events since 2026-07-04',
    (world) => ({
      context: group(world, { dataAvailabilityInterval: { startTime: '2026-07-04T00:00:00.000000Z' } }),
    }),
  ],
];

function frequency(maximumFrequency: number): Spoiled {
  const params = { epsilon: 1, delta: 1e-9 };
  const value = { reachPrivacyParams: params, frequencyPrivacyParams: params, maximumFrequency };
  return { spec: { measurementType: { case: 'reachAndFrequency', value } } };
}
