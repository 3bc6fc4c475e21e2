import { createHash } from 'node:crypto';
import type { ProtocolConfig, ShareShuffleConfig } from '@measurement-exchange/contract';
import { describe, expect, test } from 'vitest';
import { seedCommitment, type Terms, termsDigest } from './terms.ts';

const CONFIG: ShareShuffleConfig = {
  firstWorker: 'duchies/alpha',
  secondWorker: 'duchies/beta',
  aggregator: 'duchies/gamma',
  noiseMechanism: 'DISCRETE_GAUSSIAN',
  ringModulus: 127,
  population: 'populations/p',
  populationFingerprint: new Uint8Array(32).fill(3),
};
const TERMS: Terms = {
  computation: 'c1',
  measurementSpec: Uint8Array.of(1, 2, 3),
  protocolConfig: { measurementType: 'REACH', honestMajorityShareShuffle: CONFIG },
  nonceHashes: [new Uint8Array(32).fill(9), new Uint8Array(32).fill(8)],
};
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const digest = async (changes: Partial<Terms> = {}) => hex(await termsDigest({ ...TERMS, ...changes }));

/** An independent implementation of the digest. Hashes the length of each part as eight bytes, and then the part. */
function expected(...parts: (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(Buffer.from(part as string).length));
    hash.update(length).update(part);
  }
  return hash.digest('hex');
}

test('the terms digest is a SHA-256 hash over length-prefixed parts', async () => {
  const fingerprint = Buffer.alloc(32, 3).toString('base64');
  expect(await digest()).toBe(
    expected(
      'mex.contract.Terms.v1',
      'c1',
      Uint8Array.of(1, 2, 3),
      '{"honestMajorityShareShuffle":{"aggregator":"duchies/gamma","firstWorker":"duchies/alpha",' +
        `"noiseMechanism":"DISCRETE_GAUSSIAN","population":"populations/p","populationFingerprint":"${fingerprint}",` +
        '"ringModulus":127,"secondWorker":"duchies/beta"},"measurementType":"REACH"}',
      new Uint8Array(32).fill(8),
      new Uint8Array(32).fill(9),
    ),
  );
  expect(await digest()).toBe('c9d8323cbd7bfd21ec8050a972569c35565cf728f36fc4c0b68ec1fdbb66dbfd');
});

test('the terms digest does not depend on the order of nonce hashes or config members', async () => {
  expect(await digest({ nonceHashes: TERMS.nonceHashes.toReversed() })).toBe(await digest());
  const honestMajorityShareShuffle = Object.fromEntries(Object.entries(CONFIG).toReversed()) as typeof CONFIG;
  const protocolConfig: ProtocolConfig = { honestMajorityShareShuffle, measurementType: 'REACH' };
  expect(await digest({ protocolConfig })).toBe(await digest());
});

describe('the terms digest', () => {
  const config = (change: object): Partial<Terms> => ({
    protocolConfig: { measurementType: 'REACH', honestMajorityShareShuffle: { ...CONFIG, ...change } },
  });
  const nine = new Uint8Array(32).fill(9);
  test.each<[string, Partial<Terms>]>([
    ['the computation', { computation: 'c2' }],
    ['a byte of the spec', { measurementSpec: Uint8Array.of(1, 2, 4) }],
    [
      'a byte that moves from the computation to the spec',
      { computation: 'c', measurementSpec: Uint8Array.of(49, 1, 2, 3) },
    ],
    [
      'the measurement type',
      { protocolConfig: { ...TERMS.protocolConfig, measurementType: 'REACH_AND_FREQUENCY' } },
    ],
    ['the first worker', config({ firstWorker: 'duchies/delta' })],
    ['the second worker', config({ secondWorker: 'duchies/delta' })],
    ['the order of the workers', config({ firstWorker: 'duchies/beta', secondWorker: 'duchies/alpha' })],
    ['the aggregator', config({ aggregator: 'duchies/delta' })],
    ['the noise mechanism', config({ noiseMechanism: 'GEOMETRIC' })],
    ['the ring modulus', config({ ringModulus: 113 })],
    ['the population', config({ population: 'populations/q' })],
    ['the population fingerprint', config({ populationFingerprint: new Uint8Array(32).fill(4) })],
    ['a nonce hash', { nonceHashes: [nine, new Uint8Array(32).fill(7)] }],
    ['a missing nonce hash', { nonceHashes: [nine] }],
    ['a duplicate nonce hash', { nonceHashes: [...TERMS.nonceHashes, nine] }],
  ])('changes with %s', async (_what, changes) => {
    expect(await digest(changes)).not.toBe(await digest());
  });

  const HIDING = { epsilon: 0.1, delta: 1e-9 };
  const legions = {
    ...{ workers: ['duchies/alpha', 'duchies/beta'], aggregator: 'duchies/gamma' },
    ...({ noiseMechanism: 'DISCRETE_GAUSSIAN', decayRate: 12, maxSize: 1000 } as const),
    ...{ histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING },
    ...{ samplingIndicatorSize: 1000, maximumFrequency: 10 },
  };
  const ring = (change: object = {}): Partial<Terms> => ({
    protocolConfig: { liquidLegionsV2: { ...legions, workers: [...legions.workers], ...change } },
  });
  test.each([
    { workers: ['duchies/beta', 'duchies/alpha'] },
    { aggregator: 'duchies/delta' },
    { noiseMechanism: 'GEOMETRIC' },
    { decayRate: 12.000000000000002 },
    { maxSize: 1001 },
    { histogramPrivacyParams: { ...HIDING, epsilon: 0.2 } },
    { histogramPrivacyParams: { ...HIDING, delta: 2e-9 } },
    { publisherPrivacyParams: { ...HIDING, epsilon: 0.2 } },
    { publisherPrivacyParams: { ...HIDING, delta: 2e-9 } },
    { samplingIndicatorSize: 1001 },
    { maximumFrequency: 9 },
  ])('changes with %j in a Liquid Legions config', async (change) => {
    expect(await digest(ring(change))).not.toBe(await digest(ring()));
  });
});

test('a seed commitment depends on the seed, the duchy and the computation', async () => {
  const seed = new Uint8Array(48).fill(1);
  const commit = async (...[of, duchy, id]: Parameters<typeof seedCommitment>) =>
    hex(await seedCommitment(of, duchy, id));
  const made = await commit(seed, 'duchies/alpha', 'c1');
  expect(made).toBe(expected('mex.contract.SeedCommitment.v1', 'duchies/alpha', 'c1', seed));
  expect(await commit(seed.with(47, 2), 'duchies/alpha', 'c1')).not.toBe(made);
  expect(await commit(seed, 'duchies/beta', 'c1')).not.toBe(made);
  expect(await commit(seed, 'duchies/alpha', 'c2')).not.toBe(made);
});
