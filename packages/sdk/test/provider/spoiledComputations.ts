/**
 * Lists requisitions of share-shuffle computations that can never be fulfilled, each with its fault and the expected
 * refusal.
 */
import {
  type BindingFields,
  createEncryptionKeysets,
  createSigner,
  packEncryptionPublicKey,
} from '@measurement-exchange/consent';
import type { Certificate, RefusalJustification, SignedMessage } from '@measurement-exchange/contract';
import { type Identity, issueLeaf } from '../../src/identity/index.ts';
import { signedBy, signedLater } from './boundKeys.ts';
import { certificateOf, NOW } from './requisitions.ts';
import {
  ALPHA,
  BETA,
  type DuchyWorld,
  fingerprintOf,
  GAMMA,
  type SpoiledComputation,
} from './shareShuffleRequisitions.ts';

type Row = [
  what: string,
  justification: RefusalJustification,
  says: string,
  spoil: (world: DuchyWorld) => SpoiledComputation | Promise<SpoiledComputation>,
];

const params = (delta = 1e-9) => ({ epsilon: 0.5, delta });
const frequency = (maximumFrequency: number, delta?: number): SpoiledComputation => ({
  spec: {
    measurementType: {
      case: 'reachAndFrequency',
      value: { reachPrivacyParams: params(), frequencyPrivacyParams: params(delta), maximumFrequency },
    },
  },
});
/** Replaces the key in a worker's entry. */
const workerKey = (
  { entries }: DuchyWorld,
  worker: string,
  publicKey: SignedMessage,
): SpoiledComputation => ({
  entries: { ...entries, [worker]: { ...entries[worker]!, honestMajorityShareShuffle: { publicKey } } },
});
const betaKey = (world: DuchyWorld, publicKey: SignedMessage) => workerKey(world, BETA!, publicKey);
/**
 * Replaces parts of the binding of a worker's key with `changes`, so that the binding does not match the requisition.
 */
const bound = (world: DuchyWorld, worker: string, changes: Partial<BindingFields>): SpoiledComputation => {
  const { publicKeyset } = worker === ALPHA ? world.workerKeys : world.peerKeys;
  return workerKey(world, worker, world.signKey(publicKeyset, world.duchies[worker]!, changes));
};
const certificate = (duchy: string | undefined, changes: Partial<Certificate>) => (world: DuchyWorld) => ({
  certificates: {
    [`${duchy}/certificates/c1`]: { ...world.certificates[`${duchy}/certificates/c1`]!, ...changes },
  },
});
/** Issues a certificate for Beta under this root. Without `party`, the certificate names no party. */
async function issued(root: Identity['root'], party?: string): Promise<Certificate> {
  return certificateOf(await issueLeaf(root, 'Beta', NOW, { days: 365, ...(party && { party }) }));
}

export const SPOILED_COMPUTATIONS: Row[] = [
  [
    'the provider has no settings for the protocol',
    'DECLINED',
    'no settings for',
    () => ({ settings: 'none' }),
  ],
  ['it has no duchy entries', 'CONSENT_SIGNAL_INVALID', 'not of duchies/alpha and', () => ({ entries: {} })],
  [
    'it has an entry of only one worker',
    'CONSENT_SIGNAL_INVALID',
    'entries of duchies/beta: not',
    ({ entries }) => ({ entries: { [BETA!]: entries[BETA!]! } }),
  ],
  [
    'it also has an entry of the aggregator',
    'CONSENT_SIGNAL_INVALID',
    'duchies/gamma: not',
    ({ entries }) => ({
      entries: { ...entries, [GAMMA!]: { duchyCertificate: `${GAMMA}/certificates/c1` } },
    }),
  ],
  [
    'it has an entry of the aggregator in place of a worker',
    'CONSENT_SIGNAL_INVALID',
    'duchies/gamma: not',
    ({ entries }) => ({
      entries: { [BETA!]: entries[BETA!]!, [GAMMA!]: { duchyCertificate: `${GAMMA}/certificates/c1` } },
    }),
  ],
  ...[ALPHA!, BETA!].flatMap((worker): Row[] => [
    [
      `the entry of ${worker} has no public key`,
      'CONSENT_SIGNAL_INVALID',
      `${worker} has no publicKey`,
      ({ entries }) => ({
        entries: { ...entries, [worker]: { duchyCertificate: `${worker}/certificates/c1` } },
      }),
    ],
    [
      `the key of ${worker} has no binding`,
      'CONSENT_SIGNAL_INVALID',
      'BINDING_MISSING',
      (world) =>
        workerKey(
          world,
          worker,
          signedBy(world.duchies[worker]!, () => packEncryptionPublicKey(world.peerKeys.publicKeyset)),
        ),
    ],
    [
      `the key of ${worker} is bound to another computation`,
      'CONSENT_SIGNAL_INVALID',
      'The key of',
      (world) => bound(world, worker, { computation: 'm2' }),
    ],
    [
      `the key of ${worker} is bound to other terms`,
      'CONSENT_SIGNAL_INVALID',
      'TERMS_DIFFER',
      (world) => bound(world, worker, { termsSha256: new Uint8Array(32) }),
    ],
    [
      `the key of ${worker} is bound to another duchy`,
      'CONSENT_SIGNAL_INVALID',
      'BINDING_MISMATCH',
      (world) => bound(world, worker, { duchy: GAMMA! }),
    ],
    [
      `the key of ${worker} is bound to another purpose`,
      'CONSENT_SIGNAL_INVALID',
      'BINDING_MISMATCH',
      (world) => bound(world, worker, { purpose: 'mex.contract.RandomSeed' }),
    ],
  ]),
  [
    'the keys of both workers are bound to another computation',
    'CONSENT_SIGNAL_INVALID',
    'TERMS_DIFFER',
    (world) => ({
      entries: Object.fromEntries(
        [ALPHA!, BETA!].map((worker) => [
          worker,
          bound(world, worker, { computation: 'm2' }).entries![worker]!,
        ]),
      ),
    }),
  ],
  [
    'the fulfilling duchy is the aggregator',
    'CONSENT_SIGNAL_INVALID',
    'fulfillingDuchy is duchies/gamma',
    () => ({ fulfillingDuchy: GAMMA }),
  ],
  [
    'the fulfilling duchy is missing',
    'CONSENT_SIGNAL_INVALID',
    'fulfillingDuchy is undefined',
    () => ({ fulfillingDuchy: undefined }),
  ],
  [
    'one duchy is both workers',
    'CONSENT_SIGNAL_INVALID',
    'duchies/alpha has two roles',
    () => ({ config: { secondWorker: ALPHA! } }),
  ],
  [
    'a worker is also the aggregator',
    'CONSENT_SIGNAL_INVALID',
    'duchies/beta has two roles',
    () => ({ config: { aggregator: BETA! } }),
  ],
  [
    'a worker is not in the settings of the provider',
    'CONSENT_SIGNAL_INVALID',
    'duchies/delta (firstWorker) is not in the settings',
    ({ entries }) => ({
      config: { firstWorker: 'duchies/delta' },
      entries: { 'duchies/delta': entries[ALPHA!]!, [BETA!]: entries[BETA!]! },
      fulfillingDuchy: 'duchies/delta',
    }),
  ],
  [
    'the aggregator is not in the settings of the provider',
    'CONSENT_SIGNAL_INVALID',
    'duchies/delta (aggregator) is not in the settings',
    () => ({ config: { aggregator: 'duchies/delta' } }),
  ],
  [
    'the name of the aggregator is "constructor"',
    'CONSENT_SIGNAL_INVALID',
    'is not in the settings',
    () => ({ config: { aggregator: 'constructor' } }),
  ],
  [
    'the entry of a worker names the certificate of another duchy',
    'CONSENT_SIGNAL_INVALID',
    'is not a certificate of duchies/beta',
    ({ entries }) => ({
      entries: { ...entries, [BETA!]: { ...entries[BETA!]!, duchyCertificate: `${GAMMA}/certificates/c1` } },
    }),
  ],
  [
    'the certificate of the other worker does not exist',
    'CONSENT_SIGNAL_INVALID',
    'the exchange has no duchies/beta/certificates/c1',
    () => ({ certificates: { [`${BETA}/certificates/c1`]: undefined } }),
  ],
  [
    'the certificate of the fulfilling duchy is revoked',
    'CONSENT_SIGNAL_INVALID',
    'duchies/alpha/certificates/c1 is revoked (REVOKED)',
    certificate(ALPHA, { revocationState: 'REVOKED' }),
  ],
  [
    'the certificate of the other worker is on hold',
    'CONSENT_SIGNAL_INVALID',
    'duchies/beta/certificates/c1 is revoked (HOLD)',
    certificate(BETA, { revocationState: 'HOLD' }),
  ],
  [
    'the certificate of the other worker was issued to another duchy',
    'CONSENT_SIGNAL_INVALID',
    'CERTIFICATE_OF_ANOTHER_PARTY',
    (world) => certificate(BETA, world.certificates[`${ALPHA}/certificates/c1`]!)(world),
  ],
  [
    'the root of the other worker is not in the settings',
    'CONSENT_SIGNAL_INVALID',
    'CERTIFICATE_UNTRUSTED',
    async ({ consumer }) => ({
      certificates: { [`${BETA}/certificates/c1`]: await issued(consumer.root, BETA) },
    }),
  ],
  [
    'duchies share a root, and the certificate of the other worker names no party',
    'CONSENT_SIGNAL_INVALID',
    'CERTIFICATE_NAMES_NO_PARTY',
    async ({ duchies, settings, certificates }) => {
      const { root } = duchies[ALPHA!]!;
      return {
        settings: { duchies: { ...settings.duchies, [BETA!]: { rootPem: root.certificatePem } } },
        certificates: { ...certificates, [`${BETA}/certificates/c1`]: await issued(root) },
      };
    },
  ],
  [
    'the certificate of the other worker has expired',
    'CONSENT_SIGNAL_INVALID',
    'CERTIFICATE_EXPIRED',
    async ({ duchies }) => {
      const leaf = await issueLeaf(duchies[BETA!]!.root, 'Beta', NOW - 9 * 86_400_000, {
        days: 8,
        party: BETA!,
      });
      return { certificates: { [`${BETA}/certificates/c1`]: certificateOf(leaf) } };
    },
  ],
  [
    'another duchy signed the key of a worker',
    'CONSENT_SIGNAL_INVALID',
    'SIGNATURE_INVALID',
    (world) => betaKey(world, world.signKey(world.peerKeys.publicKeyset, world.duchies[GAMMA!]!)),
  ],
  [
    'the exchange replaced the key of a worker',
    'CONSENT_SIGNAL_INVALID',
    'SIGNATURE_INVALID',
    async (world) => {
      const { publicKeyset } = await createEncryptionKeysets();
      const signer = await createSigner(world.duchies[BETA!]!.privateKeyPem);
      const forged = signedLater(async () => ({
        ...(await signer.sign(Uint8Array.of(1))),
        message: packEncryptionPublicKey(publicKeyset),
      }));
      return betaKey(world, forged);
    },
  ],
  [
    'the key of a worker is not an EncryptionPublicKey',
    'CONSENT_SIGNAL_INVALID',
    'MESSAGE_MALFORMED',
    (world) =>
      betaKey(
        world,
        signedBy(world.duchies[BETA!]!, () => Uint8Array.of(0xff)),
      ),
  ],
  [
    'the key of a worker is not a keyset',
    'CONSENT_SIGNAL_INVALID',
    'KEY',
    (world) => betaKey(world, world.signKey(Uint8Array.of(1, 2, 3), world.duchies[BETA!]!)),
  ],
  [
    'the ring modulus is too small for the frequencies of two providers',
    'SPEC_INVALID',
    'ring modulus 127 does not fit',
    () => frequency(63),
  ],
  [
    'the ring modulus for a reach is not prime',
    'SPEC_INVALID',
    'ring modulus 119 does not fit',
    () => ({ config: { ringModulus: 119 } }),
  ],
  [
    'the ring modulus is too small for the reach of two providers',
    'SPEC_INVALID',
    'ring modulus 2 does not fit REACH of 2',
    () => ({ config: { ringModulus: 2 } }),
  ],
  ['the duchies add no noise', 'DECLINED', 'add NONE noise', () => ({ config: { noiseMechanism: 'NONE' } })],
  [
    'the provider does not accept the noise mechanism',
    'DECLINED',
    'and GEOMETRIC is accepted',
    () => ({ settings: { noiseMechanisms: ['GEOMETRIC'] } }),
  ],
  ['a delta is 0', 'DECLINED', 'needs a delta above 0', () => frequency(5, 0)],
  [
    'it measures impressions',
    'SPEC_INVALID',
    'IMPRESSION cannot be computed',
    () => ({
      spec: {
        measurementType: {
          case: 'impression',
          value: { privacyParams: params(), maximumFrequencyPerUser: 5 },
        },
      },
    }),
  ],
  [
    'the settings do not list the fingerprint of the population',
    'DECLINED',
    'fingerprint that the settings do not list',
    () => ({ settings: { populations: [new Uint8Array(32)] } }),
  ],
  [
    'the protocol config has the fingerprint of another population',
    'DECLINED',
    'fingerprint that the settings do not list',
    () => ({ config: { populationFingerprint: fingerprintOf([{ start: 1, end: 11 }]) } }),
  ],
  [
    'the VID ranges of the population do not match its fingerprint',
    'CONSENT_SIGNAL_INVALID',
    'has other people than its fingerprint',
    () => ({ vidRanges: [{ start: 1, end: 11 }] }),
  ],
  [
    'the population does not exist',
    'CONSENT_SIGNAL_INVALID',
    'populations/p1 does not exist',
    () => ({ vidRanges: 'none' }),
  ],
  [
    'the VID ranges of the population cancel each other out',
    'CONSENT_SIGNAL_INVALID',
    'has other people than its fingerprint',
    () => ({
      vidRanges: [
        { start: 1, end: 20 },
        { start: 21, end: 10 },
      ],
    }),
  ],
  [
    'no register is in the sampling interval',
    'SPEC_INVALID',
    'vidSamplingInterval',
    () => ({ spec: { vidSamplingInterval: { start: 0.5, width: 0.01 } } }),
  ],
  [
    'the sampling interval starts after 1',
    'SPEC_INVALID',
    'vidSamplingInterval.start',
    () => ({ spec: { vidSamplingInterval: { start: 1.5, width: 0.5 } } }),
  ],
  [
    'another key signed the MeasurementSpec',
    'CONSENT_SIGNAL_INVALID',
    'SIGNATURE_INVALID',
    ({ duchies }) => ({ specKeyPem: duchies[GAMMA!]!.privateKeyPem }),
  ],
];
