/**
 * Lists requisitions of computations on sketches that can never be fulfilled, each with its fault and the expected
 * refusal.
 */
import { createSigner, packElGamalPublicKey, unpackElGamalPublicKey } from '@measurement-exchange/consent';
import type { RefusalJustification } from '@measurement-exchange/contract';
import { Keystream } from '@measurement-exchange/mpc/shares';
import { type ElGamalKeyPair, newKeyPair, publishedKey } from '../../src/provider/liquidLegions.ts';
import { type KeyContext, signedBy, signedLater } from './boundKeys.ts';
import { entriesOf, type LegionsWorld, RING, type SpoiledLegions, signKey } from './legionsRequisitions.ts';
import { ALPHA, BETA, GAMMA } from './shareShuffleRequisitions.ts';
import { frequencySpec } from './shareWorld.ts';

type Row = [
  what: string,
  justification: RefusalJustification,
  says: string,
  spoil: (world: LegionsWorld) => SpoiledLegions | Promise<SpoiledLegions>,
];

const frequency = (maximumFrequency: number): SpoiledLegions => ({
  ...(frequencySpec(maximumFrequency) as Pick<SpoiledLegions, 'spec'>),
  protocol: 'liquidLegionsV2',
});
const without = (world: LegionsWorld, duchy: string) => {
  const { [duchy]: _, ...others } = entriesOf(world.ring.signed, 'reachOnlyLiquidLegionsV2');
  return others;
};
const stranger = newKeyPair(new Keystream(new Uint8Array(48).fill(9)));
/** Replaces Beta's key with these bytes, signed by Beta. */
const betaSigns = (
  { duchies }: LegionsWorld,
  bytes: (context: KeyContext) => Uint8Array,
): SpoiledLegions => ({ signed: { [BETA!]: signedBy(duchies[BETA!]!, bytes) } });
/** Replaces parts of the binding of Beta's key with `changes`, so that the binding does not match the requisition. */
const betaBinds = ({ ring, duchies }: LegionsWorld, changes: Partial<KeyContext>): SpoiledLegions => ({
  signed: { [BETA!]: signKey(ring.keys[BETA!]!, duchies[BETA!]!, changes) },
});
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
/** Returns the key pair of the negated point. The sum of both points is the point at infinity. */
const negated = ({ publicKey, secretKey }: ElGamalKeyPair): ElGamalKeyPair => {
  const secret = ORDER - BigInt(`0x${Buffer.from(secretKey).toString('hex')}`);
  return {
    publicKey: Uint8Array.of(publicKey[0]! ^ 1, ...publicKey.subarray(1)),
    secretKey: Buffer.from(secret.toString(16).padStart(64, '0'), 'hex'),
  };
};
const hiding = (epsilon: number, delta = 1e-9) => ({ epsilon, delta });

export const SPOILED_LEGIONS: Row[] = [
  ['the provider has no settings for sketches', 'DECLINED', 'no settings for', () => ({ settings: 'none' })],
  [
    'the settings list only the other protocol',
    'DECLINED',
    'no settings for',
    () => ({ settings: { protocols: ['liquidLegionsV2'] } }),
  ],
  [
    'a worker is not in the settings of the provider',
    'CONSENT_SIGNAL_INVALID',
    'duchies/delta (worker) is not in the settings',
    () => ({ config: { workers: [ALPHA!, 'duchies/delta'] } }),
  ],
  [
    'the aggregator is not in the settings of the provider',
    'CONSENT_SIGNAL_INVALID',
    'duchies/delta (aggregator) is not in the settings',
    () => ({ config: { aggregator: 'duchies/delta' } }),
  ],
  [
    'a duchy is in the ring twice',
    'CONSENT_SIGNAL_INVALID',
    'duchies/alpha has two roles',
    () => ({ config: { workers: [ALPHA!, ALPHA!] } }),
  ],
  [
    'a worker is also the aggregator',
    'CONSENT_SIGNAL_INVALID',
    'duchies/beta has two roles',
    () => ({ config: { aggregator: BETA! } }),
  ],
  ['the protocol config has no workers', 'SPEC_INVALID', 'workers of', () => ({ config: { workers: [] } })],
  [
    'a duchy of the ring has no entry',
    'CONSENT_SIGNAL_INVALID',
    'not of duchies/alpha and duchies/beta and duchies/gamma',
    (world) => ({ entries: without(world, GAMMA!) }),
  ],
  [
    'a duchy outside of the ring has an entry',
    'CONSENT_SIGNAL_INVALID',
    'not of duchies/alpha and duchies/gamma',
    () => ({ config: { workers: [ALPHA!] } }),
  ],
  [
    'the entries have keys of the other protocol',
    'CONSENT_SIGNAL_INVALID',
    'duchies/alpha has no elGamalPublicKey',
    ({ ring }) => ({ entries: entriesOf(ring.signed, 'liquidLegionsV2') }),
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
  ...RING.map(
    (duchy): Row => [
      `the certificate of ${duchy} is revoked`,
      'CONSENT_SIGNAL_INVALID',
      `${duchy}/certificates/c1 is revoked (REVOKED)`,
      ({ certificates }) => ({
        certificates: {
          [`${duchy}/certificates/c1`]: {
            ...certificates[`${duchy}/certificates/c1`]!,
            revocationState: 'REVOKED',
          },
        },
      }),
    ],
  ),
  [
    'the certificate of a duchy was issued to another duchy',
    'CONSENT_SIGNAL_INVALID',
    'CERTIFICATE_OF_ANOTHER_PARTY',
    ({ certificates }) => ({
      certificates: { [`${GAMMA}/certificates/c1`]: certificates[`${ALPHA}/certificates/c1`]! },
    }),
  ],
  ...RING.map(
    (duchy): Row => [
      `another duchy signed the key of ${duchy}`,
      'CONSENT_SIGNAL_INVALID',
      'SIGNATURE_INVALID',
      ({ duchies }) => ({
        signed: { [duchy]: signKey(stranger, duchies[duchy === ALPHA ? BETA! : ALPHA!]!) },
      }),
    ],
  ),
  [
    'the exchange replaced the key of a duchy',
    'CONSENT_SIGNAL_INVALID',
    'SIGNATURE_INVALID',
    ({ duchies }) => ({
      signed: {
        [GAMMA!]: signedLater(async (context) => {
          const { privateKeyPem } = duchies[GAMMA!]!;
          const signed = await (await createSigner(privateKeyPem)).sign(Uint8Array.of(1));
          return { ...signed, message: publishedKey(stranger, context) };
        }),
      },
    }),
  ],
  [
    'a key is not an ElGamalPublicKey',
    'CONSENT_SIGNAL_INVALID',
    'MESSAGE_MALFORMED',
    (world) => betaSigns(world, () => Uint8Array.of(0xff)),
  ],
  [
    'a key has a wrong generator',
    'CONSENT_SIGNAL_INVALID',
    'KEY_NOT_SUPPORTED',
    (world) =>
      betaSigns(world, (context) => {
        const message = Uint8Array.from(publishedKey(stranger, context));
        // Replace the generator with its negative: the compressed point begins with the byte 2 instead of 3.
        const at = Buffer.from(message).indexOf(Buffer.from('036b17d1f2', 'hex'));
        return message.with(at, 2);
      }),
  ],
  [
    'a key is not a point on the curve',
    'CONSENT_SIGNAL_INVALID',
    'no proof that its duchy knows the secret',
    (world) =>
      betaSigns(world, (context) =>
        publishedKey({ ...stranger, publicKey: Uint8Array.of(2, ...new Uint8Array(31), 1) }, context),
      ),
  ],
  [
    'a duchy does not know the secret key of its public key',
    'CONSENT_SIGNAL_INVALID',
    'no proof that its duchy knows the secret',
    (world) =>
      betaSigns(world, (context) =>
        publishedKey({ ...world.ring.keys[BETA!]!, publicKey: stranger.publicKey }, context),
      ),
  ],
  [
    'a key has no binding',
    'CONSENT_SIGNAL_INVALID',
    'BINDING_MISSING',
    (world) =>
      betaSigns(world, (context) => {
        const { element, proof } = unpackElGamalPublicKey(publishedKey(stranger, context));
        return packElGamalPublicKey({ element, proof });
      }),
  ],
  [
    'a key is bound to another computation',
    'CONSENT_SIGNAL_INVALID',
    'BINDING_MISMATCH',
    (world) => betaBinds(world, { computation: 'm2' }),
  ],
  [
    'the keys of all duchies are bound to another computation',
    'CONSENT_SIGNAL_INVALID',
    'TERMS_DIFFER',
    ({ ring, duchies }) => ({
      signed: Object.fromEntries(
        RING.map((duchy) => [duchy, signKey(ring.keys[duchy]!, duchies[duchy]!, { computation: 'm2' })]),
      ),
    }),
  ],
  [
    'a key is bound to other terms',
    'CONSENT_SIGNAL_INVALID',
    'TERMS_DIFFER',
    (world) => betaBinds(world, { termsSha256: new Uint8Array(32) }),
  ],
  [
    'a key is bound to another duchy',
    'CONSENT_SIGNAL_INVALID',
    'BINDING_MISMATCH',
    (world) => betaBinds(world, { duchy: GAMMA! }),
  ],
  ...(['duchy', 'computation', 'termsSha256'] as const).map(
    (member): Row => [
      `a proof is copied from a key with another ${member}`,
      'CONSENT_SIGNAL_INVALID',
      'no proof that its duchy knows the secret',
      (world) =>
        betaSigns(world, (context) => {
          const other = { duchy: GAMMA!, computation: 'm2', termsSha256: new Uint8Array(32) };
          const copied = publishedKey(world.ring.keys[BETA!]!, { ...context, [member]: other[member] });
          const own = unpackElGamalPublicKey(publishedKey(world.ring.keys[BETA!]!, context));
          return packElGamalPublicKey({
            ...own,
            binding: own.binding!,
            proof: unpackElGamalPublicKey(copied).proof,
          });
        }),
    ],
  ),
  [
    'two duchies have the same key',
    'CONSENT_SIGNAL_INVALID',
    'must be different from each other',
    ({ ring, duchies }) => ({
      signed: { [BETA!]: signKey(ring.keys[ALPHA!]!, duchies[BETA!]!) },
    }),
  ],
  [
    'the keys of two duchies cancel out',
    'CONSENT_SIGNAL_INVALID',
    'must not cancel out',
    ({ ring, duchies }) => ({
      signed: { [BETA!]: signKey(negated(ring.keys[ALPHA!]!), duchies[BETA!]!) },
    }),
  ],
  ['the duchies add no noise', 'DECLINED', 'add NONE noise', () => ({ config: { noiseMechanism: 'NONE' } })],
  [
    'the provider does not accept geometric noise',
    'DECLINED',
    'add GEOMETRIC noise',
    () => ({ config: { noiseMechanism: 'GEOMETRIC' } }),
  ],
  ...(['histogramPrivacyParams', 'publisherPrivacyParams'] as const).flatMap((field): Row[] => [
    [
      `epsilon of ${field} is too large`,
      'SPEC_INVALID',
      `${field}.epsilon of`,
      () => ({ config: { [field]: hiding(1.01) } }),
    ],
    [
      `delta of ${field} is too large`,
      'SPEC_INVALID',
      `${field}.delta of`,
      () => ({ config: { [field]: hiding(0.1, 1.1e-5) } }),
    ],
  ]),
  ['the decay rate is 0', 'SPEC_INVALID', 'decayRate of', () => ({ config: { decayRate: 0 } })],
  ['the decay rate is too large', 'SPEC_INVALID', 'decayRate of', () => ({ config: { decayRate: 101 } })],
  ['the sketch is too large', 'SPEC_INVALID', 'maxSize of', () => ({ config: { maxSize: 1_000_001 } })],
  ['the sketch has no register', 'SPEC_INVALID', 'maxSize of', () => ({ config: { maxSize: 0 } })],
  [
    'samplingIndicatorSize is too large',
    'SPEC_INVALID',
    'samplingIndicatorSize of',
    () => ({ ...frequency(5), config: { samplingIndicatorSize: 2 ** 32 - 1 } }),
  ],
  [
    'the maximum frequency exceeds the maximum of the duchies',
    'SPEC_INVALID',
    'count to 10, and the measurement asks for 11',
    () => frequency(11),
  ],
  [
    'it measures frequencies with reach-only sketches',
    'SPEC_INVALID',
    'REACH_AND_FREQUENCY is not computed with reachOnlyLiquidLegionsV2',
    () => ({ ...frequency(5), protocol: 'reachOnlyLiquidLegionsV2' }),
  ],
  [
    'it measures a reach with sketches for frequencies',
    'SPEC_INVALID',
    'REACH is not computed with liquidLegionsV2',
    () => ({ protocol: 'liquidLegionsV2' }),
  ],
  [
    'it measures impressions',
    'SPEC_INVALID',
    'IMPRESSION cannot be computed',
    () => ({
      spec: {
        measurementType: {
          case: 'impression',
          value: { privacyParams: hiding(0.5), maximumFrequencyPerUser: 5 },
        },
      },
    }),
  ],
  [
    'the sampling interval wraps around at 1',
    'SPEC_INVALID',
    'vidSamplingInterval',
    () => ({ spec: { vidSamplingInterval: { start: 0.75, width: 0.5 } } }),
  ],
];
