/** Planted bugs in the noise and blinding of a ring of duchies, and in the handling of unusual sketch contents. */
import type { PlantedBug } from '../plant.ts';
import { inMpc, test } from './edits.ts';

const drawn = (title: string) => test('mpc/test/noise.test.ts', title);
const batches = (title: string) => test('mpc/test/batches.test.ts', title);

const coalition = (title: string) => test('duchy/test/coalitions/ring.test.ts', title);
/** Code of an earlier version, in which a worker removed its key from the ciphertexts but did not blind them. */
const onlyDecrypted = (ciphertexts: string) =>
  `workspace.change(${ciphertexts}, ALONE, ${ciphertexts}, (batch, count) => {
    batch.decrypt(keys.secretKey);
    batch.reRandomize(workspace.key(keys.restKey), drawScalars(random, count));
  });`;

export const DUCHY_RING_SECRECY_BUGS: PlantedBug[] = [
  {
    name: 'combine-keeps-registers',
    edits: [
      inMpc(
        'protocols/liquidLegions/registers.ts',
        'batch.reRandomize(publicKey, drawScalars(random, count)),',
        'void [batch, publicKey, random, count],',
      ),
    ],
    foundBy: coalition('recognize nothing'),
  },
  {
    name: 'combine-keeps-the-count',
    edits: [
      inMpc(
        'protocols/liquidLegions/registers.ts',
        'const sum = workspace.encryptZeros(1, workspace.key(key), new Keystream(seed));',
        'const sum = Uint8Array.from(counts[0]!); counts = counts.slice(1); void [key, seed];',
      ),
    ],
    foundBy: coalition('recognize nothing'),
  },
  {
    name: 'flags-not-blinded',
    edits: [
      inMpc(
        'protocols/liquidLegions/tuples.ts',
        'workspace.blindEach(flags, keys, random);',
        onlyDecrypted('flags'),
      ),
    ],
    foundBy: coalition('identifies no person'),
  },
  {
    name: 'comparisons-not-blinded',
    edits: [
      inMpc(
        'protocols/liquidLegions/comparisons.ts',
        'workspace.blindEach(decrypted, keys, new Keystream(seed));',
        `const random = new Keystream(seed); ${onlyDecrypted('decrypted')}`,
      ),
    ],
    foundBy: coalition('by how much a count is above'),
  },
  {
    name: 'one-factor-for-all-flags',
    edits: [
      inMpc(
        'protocols/liquidLegions/workspace.ts',
        'batch.blindEach(secretKey, drawScalars(random, count));',
        'batch.blind(secretKey, drawScalars(random, 1));',
      ),
    ],
    foundBy: coalition('distinct points with distinct differences'),
  },
  {
    name: 'infinity-ends-a-computation',
    edits: [
      inMpc(
        'elGamal/elGamal.ts',
        'const infinite = this.curve.add(mask, this.e, mask, -1);',
        'this.addTo(this.e, mask, -1); this.curve.copy(mask, this.e); const infinite: number[] = [];',
      ),
    ],
    foundBy: test('mpc/src/protocols/liquidLegions/hostile.test.ts', 'cancel each other out'),
  },
  {
    name: 'ciphertexts-meet-in-a-group',
    edits: [
      inMpc(
        'protocols/liquidLegions/tuples.ts',
        'const differences = takeBlocks(zeros, CIPHERTEXT_BYTES, larger); addColumn(workspace, differences, takeBlocks(keys, CIPHERTEXT_BYTES, others));',
        'const differences = takeBlocks(keys, CIPHERTEXT_BYTES, others);',
      ),
    ],
    foundBy: test('mpc/src/protocols/liquidLegions/hostile.test.ts', 'cancel each other out'),
  },
  {
    name: 'undecodable-noise-count-is-none',
    edits: [
      inMpc(
        'protocols/liquidLegions/registers.ts',
        '? place + 1 : expected;',
        '? place + 1 : expected && 0;',
      ),
    ],
    foundBy: test('mpc/src/protocols/liquidLegions/hostile.test.ts', 'that noise explains'),
  },
  {
    name: 'full-sketch-ends-a-computation',
    edits: [
      inMpc(
        'protocols/reachOnlyLiquidLegionsV2/estimate.ts',
        'Math.min(registers, parameters.maxSize - 1)',
        'Math.max(registers, 0)',
      ),
    ],
    foundBy: test('mpc/src/protocols/liquidLegions/hostile.test.ts', 'more registers than a sketch has'),
  },
  {
    name: 'highest-frequency-without-noise',
    edits: [
      inMpc(
        'protocols/liquidLegions/noiseTuples.ts',
        'count <= maximumFrequency; count++',
        'count < maximumFrequency; count++',
      ),
    ],
    foundBy: drawn('for every frequency and for registers with several people'),
  },
  {
    name: 'several-people-without-noise',
    edits: [
      inMpc(
        'protocols/liquidLegions/noiseTuples.ts',
        'add(DIFFERENT_KEYS, drawMpcNoise(frequencyNoise, random));',
        'add(DIFFERENT_KEYS, 0);',
      ),
    ],
    foundBy: drawn('for every frequency and for registers with several people'),
  },
  {
    name: 'registers-of-all-providers-without-noise',
    edits: [
      inMpc(
        'protocols/liquidLegions/noiseRegisters.ts',
        'times <= dataProviderCount; times++',
        'times < dataProviderCount; times++',
      ),
    ],
    foundBy: drawn('for reach, publishers and each number of providers in'),
  },
  {
    name: 'reach-noise-of-the-frequency',
    edits: [
      inMpc(
        'protocols/liquidLegionsV2/limits.ts',
        'privacyParams: reachPrivacyParams!,',
        'privacyParams: reachPrivacyParams && frequencyPrivacyParams!,',
      ),
    ],
    foundBy: drawn('for reach, publishers and each number of providers in'),
  },
  {
    name: 'histogram-noise-of-the-publishers',
    edits: [
      inMpc(
        'protocols/liquidLegions/noiseParameters.ts',
        'mpcNoise(mechanism, spec.histogramPrivacyParams, shapes.histogram)',
        'mpcNoise(mechanism, spec.publisherPrivacyParams, shapes.histogram)',
      ),
    ],
    foundBy: drawn('for reach, publishers and each number of providers in'),
  },
  {
    name: 'one-seed-for-all-batches',
    edits: [
      inMpc(
        'protocols/liquidLegions/stageWork.ts',
        'this.seed(operation, batch)',
        'this.seed(operation, batch && 0)',
      ),
    ],
    foundBy: batches('of the reach-only protocol'),
  },
  {
    name: 'tuples-not-sorted',
    edits: [
      inMpc(
        'protocols/liquidLegionsV2/duchy.ts',
        'return work.sort([...decrypted, ...(await this.noise(work.upTo(1), keys))], TUPLE_BYTES);',
        'return Buffer.concat([...decrypted, ...(await this.noise(work.upTo(1), keys))]) as never;',
      ),
    ],
    foundBy: batches('of the protocol with frequencies'),
  },
  {
    name: 'comparisons-not-sorted',
    edits: [
      inMpc(
        'protocols/liquidLegionsV2/duchy.ts',
        'sorted.push( await work.sort(',
        'sorted.push( ...parts.slice(0, 1) ); if (!work) sorted.push( await work.sort(',
      ),
    ],
    foundBy: batches('of the protocol with frequencies'),
  },
];
