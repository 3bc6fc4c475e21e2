/** What enters a stage is verified: each lie of a peer or a provider fails the computation, for everybody. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { encrypt, packSignedMessage, publicKeysetOf } from '@measurement-exchange/consent';
import { type DuchyRole, shareShuffle, specs, TYPE_URLS } from '@measurement-exchange/contract';
import { newSeed } from '@measurement-exchange/mpc/shares';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { follow } from '../../src/computations/follow.ts';
import { rowOf } from '../../src/computations/progress.ts';
import {
  messagesOf,
  readBlob,
  readComputation,
  readSecrets,
  type StoredComputation,
} from '../../src/database/index.ts';
import { storeOutput } from '../../src/peers/outbox.ts';
import { runStage } from '../../src/stages/run.ts';
import { makeUpload, people, uploadAll } from './uploads.ts';
import { type DuchyWorld, startDuchyWorld, type TestDuchy } from './world.ts';

const AUDIENCES = [people(1, 300), people(201, 400), people(1001, 1010)];

let world: DuchyWorld;
beforeAll(async () => {
  world = await startDuchyWorld();
});
afterAll(async () => {
  expect(await world.stop()).toEqual([]);
});

/** The computation that is pending, as a duchy stores it. */
async function pending({ duchy, query }: TestDuchy): Promise<StoredComputation> {
  const [row] = await query('SELECT id FROM computations WHERE outcome IS NULL');
  return (await readComputation(duchy.db, row!.id as string))!;
}

/** Lets a worker send something else than what its stage computes. */
async function lie(
  role: DuchyRole,
  stage: string,
  spoil: (
    honest: Uint8Array,
    liar: TestDuchy,
    computation: StoredComputation,
  ) => Promise<Uint8Array> | Uint8Array,
): Promise<void> {
  const liar = world.of(role);
  for (let turns = 0; turns < 50; turns++) {
    await liar.herald.once();
    const computation = await pending(liar);
    if (computation.stage === stage) {
      const { sends } = rowOf(computation)!;
      const { signal } = new AbortController();
      const honest = (await runStage({ duchy: liar.duchy, computation, signal, onProgress: () => {} }))!;
      await storeOutput(liar.duchy, computation, sends!, await spoil(honest, liar, computation));
      return;
    }
    // One stage of each.
    for (const { herald, mill } of world.duchies) {
      if (mill !== liar.mill) await herald.once();
      if (mill !== liar.mill || rowOf(computation)?.run) await mill.once();
    }
  }
  throw new Error(`${role} does not come to ${stage}`);
}

/** The measurement fails, and all duchies know. */
async function expectFailure(
  measurement: Awaited<ReturnType<DuchyWorld['ask']>>,
  message: RegExp,
): Promise<void> {
  const { state, failure } = await world.finish(measurement);
  expect(state).toBe('FAILED');
  expect(failure).toMatchObject({
    reason: 'COMPUTATION_PARTICIPANT_FAILED',
    message: expect.stringMatching(message),
  });
  for (const { query } of world.duchies) {
    const [last] = await query('SELECT outcome, failure FROM computations ORDER BY create_time DESC LIMIT 1');
    expect(last).toEqual({ outcome: 'FAILED', failure: failure!.message });
  }
}

async function started() {
  const measurement = await world.ask();
  await world.turn();
  await uploadAll(world, measurement, AUDIENCES);
  return measurement;
}

const Seeds = shareShuffle.ShufflePhaseInputSchema;
type SeedsInput = shareShuffle.ShufflePhaseInput;

/** Of a worker with an upload at least; which one takes an upload depends on IDs that are random. */
async function workerWithUploads(): Promise<{ role: DuchyRole; other: TestDuchy }> {
  const first = world.of('FIRST_WORKER');
  const { view } = await pending(first);
  const isFirst = view.requisitions.some((r) => r.fulfillingDuchy === first.duchy.name);
  return isFirst
    ? { role: 'FIRST_WORKER', other: world.of('SECOND_WORKER') }
    : { role: 'SECOND_WORKER', other: first };
}

describe('the seeds that a worker passes on', () => {
  test.each<[what: string, spoil: (input: SeedsInput) => void, message: RegExp]>([
    [
      'lack one',
      (input) => input.secretSeeds.pop(),
      /PEER_MESSAGE_INVALID at SHUFFLE_PHASE_INPUT_\w+ of duchies\/\w+: /,
    ],
    [
      'have one twice',
      (input) => input.secretSeeds.push(input.secretSeeds[0]!),
      /PEER_MESSAGE_INVALID at SHUFFLE_PHASE_INPUT_\w+ of duchies\/\w+: /,
    ],
    [
      'are of another requisition',
      (input) => {
        input.secretSeeds[0]!.requisitionId = 'another';
      },
      /PEER_MESSAGE_INVALID at SHUFFLE_PHASE_INPUT_\w+ of duchies\/\w+: /,
    ],
    [
      'are of another number of registers',
      (input) => {
        input.secretSeeds[0]!.registerCount = 999n;
      },
      /SEED_INVALID at dataProviders\/\w+\/requisitions\/\w+: /,
    ],
    [
      'name a certificate of another provider',
      (input) => {
        input.secretSeeds[0]!.dataProviderCertificate = 'dataProviders/nobody/certificates/none';
      },
      /CERTIFICATE_FOREIGN at dataProviders\/\w+: /,
    ],
    [
      'cannot be decrypted',
      (input) => {
        input.secretSeeds[0]!.secretSeedCiphertext[20]! ^= 1;
      },
      /SEED_INVALID at dataProviders\/\w+\/requisitions\/\w+: /,
    ],
    [
      'come with a short random seed',
      (input) => {
        input.peerRandomSeed = new Uint8Array(47);
      },
      /PEER_MESSAGE_INVALID at SHUFFLE_PHASE_INPUT_\w+ of duchies\/\w+: /,
    ],
    [
      'come with another random seed than the worker committed to',
      (input) => {
        input.peerRandomSeed = newSeed();
      },
      /PEER_MESSAGE_INVALID at peerRandomSeed of SHUFFLE_PHASE_INPUT_\w+ of duchies\/\w+: /,
    ],
  ])('fail the computation when they %s', async (_what, spoil, message) => {
    const measurement = await started();
    const { role } = await workerWithUploads();
    await lie(role, 'SETUP_PHASE', (honest) => {
      const input = fromBinary(Seeds, honest);
      spoil(input);
      return toBinary(Seeds, input);
    });
    await expectFailure(measurement, message);
  });

  test('fail the computation when the provider did not sign them', async () => {
    const measurement = await started();
    const { role, other } = await workerWithUploads();
    await lie(role, 'SETUP_PHASE', async (honest, liar, { id }) => {
      const input = fromBinary(Seeds, honest);
      const { privateKeyset } = await readSecrets(other.duchy.db, id);
      const seed = toBinary(specs.RandomSeedSchema, create(specs.RandomSeedSchema, { data: newSeed() }));
      const signed = await liar.duchy.signer.sign(seed);
      input.secretSeeds[0]!.secretSeedCiphertext = await encrypt(
        publicKeysetOf(privateKeyset!),
        packSignedMessage(signed, TYPE_URLS.SignedMessage),
      );
      return toBinary(Seeds, input);
    });
    await expectFailure(measurement, /SEED_INVALID at dataProviders\/\w+\/requisitions\/\w+: /);
  });

  test('fail the computation when they are no message at all', async () => {
    const measurement = await started();
    await lie('FIRST_WORKER', 'SETUP_PHASE', () => Uint8Array.of(0xff, 0xff));
    await expectFailure(measurement, /PEER_MESSAGE_INVALID at SHUFFLE_PHASE_INPUT_ONE of duchies\/alpha: /);
  });
});

describe('the shares that a worker sends to the aggregator', () => {
  test.each<[what: string, spoil: (honest: Uint8Array) => Uint8Array, message: RegExp]>([
    [
      'are too few',
      (honest) => Uint8Array.of(0x0a, 1, 0, ...honest.subarray(-3)),
      /PEER_MESSAGE_INVALID at AGGREGATION_PHASE_INPUT: /,
    ],
    [
      'are of another number of registers',
      (honest) => honest.with(-1, honest.at(-1)! ^ 1),
      /PEER_MESSAGE_INVALID at AGGREGATION_PHASE_INPUT: /,
    ],
    [
      'are not of the ring',
      (honest) => honest.with(10, 127),
      /PEER_MESSAGE_INVALID at AGGREGATION_PHASE_INPUT: /,
    ],
    ['are no message', () => Uint8Array.of(1, 2, 3), /PEER_MESSAGE_INVALID at AGGREGATION_PHASE_INPUT: /],
  ])('fail the computation when they %s', async (_what, spoil, message) => {
    const measurement = await started();
    await lie('SECOND_WORKER', 'SHUFFLE_PHASE', spoil);
    await expectFailure(measurement, message);
  });

  test('make a wrong figure, but no failure, where they add up to what no provider can report', async () => {
    const maximumFrequency = 4;
    const measurement = await world.ask({ type: 'reachAndFrequency', maximumFrequency });
    await world.turn();
    await uploadAll(world, measurement, AUDIENCES, { cap: maximumFrequency });
    // All registers but those of the framing: whoever was at 0 is at 50, which counts as the highest frequency.
    await lie('FIRST_WORKER', 'SHUFFLE_PHASE', (honest) =>
      honest.map((value, i) => (i >= 3 && i < 1003 ? (value + 50) % 127 : value)),
    );
    const { total } = await world.consumer.open(await world.finish(measurement));
    const { reach, frequency } = total.deduplicated!;
    expect(reach!.value).toBe(1000);
    expect(frequency!.map(({ share }) => share.value)).toEqual([0, 0, 0, 1]);
  });

  test('give a reach of 0 and no distribution where nobody was reached', async () => {
    const measurement = await world.ask({ type: 'reachAndFrequency', maximumFrequency: 4 });
    await world.turn();
    await uploadAll(world, measurement, [new Map(), new Map(), new Map()], { cap: 4 });
    const finished = await world.finish(measurement);
    expect(finished.state).toBe('SUCCEEDED');
    const { total } = await world.consumer.open(finished);
    expect(total.deduplicated).toMatchObject({ reach: { value: 0, interval: [0, 0] }, frequency: [] });
  });
});

test('a seed that another key signed fails the computation', async () => {
  const measurement = await world.ask();
  await world.turn();
  await uploadAll(world, measurement, AUDIENCES.slice(0, 2));
  const [streamly, , dailynews] = world.providers;
  const seedSigner = streamly!.privateKeyPem;
  const upload = await makeUpload(dailynews!, measurement, AUDIENCES[2]!, { seedSigner });
  expect((await upload.send()).status).toBe(200);
  await expectFailure(measurement, /SEED_INVALID at dataProviders\/dailynews\/requisitions\/\w+: /);
});

test.each([
  [
    'another computation',
    { computation: 'another' },
    /TERMS_MISMATCH at dataProviders\/dailynews\/requisitions\/[^ ]+: /,
  ],
  [
    'another requisition',
    { requisition: 'dataProviders/dailynews/requisitions/r' },
    /TERMS_MISMATCH at dataProviders\/dailynews\/requisitions\/[^ ]+: /,
  ],
  [
    'another duchy',
    { duchy: 'duchies/gamma' },
    /TERMS_MISMATCH at dataProviders\/dailynews\/requisitions\/[^ ]+: /,
  ],
  [
    'another purpose',
    { purpose: 'mex.contract.EncryptionPublicKey' },
    /TERMS_MISMATCH at dataProviders\/dailynews\/requisitions\/[^ ]+: /,
  ],
  [
    'other terms',
    { termsSha256: new Uint8Array(32) },
    /TERMS_MISMATCH at dataProviders\/dailynews\/requisitions\/[^ ]+: /,
  ],
])('a seed that its provider signed for %s fails the computation', async (_what, seedBinding, message) => {
  const measurement = await world.ask();
  await world.turn();
  await uploadAll(world, measurement, AUDIENCES.slice(0, 2));
  const upload = await makeUpload(world.providers[2]!, measurement, AUDIENCES[2]!, { seedBinding });
  expect((await upload.send()).status).toBe(200);
  await expectFailure(measurement, message);
});

test('what one duchy sends another is readable for that one alone', async () => {
  const measurement = await started();
  await world.of('FIRST_WORKER').herald.once();
  await world.of('FIRST_WORKER').mill.once();
  const computation = await pending(world.of('SECOND_WORKER'));
  const { randomSeed } = await readSecrets(world.of('FIRST_WORKER').duchy.db, computation.id);
  const { db } = world.of('SECOND_WORKER').duchy;
  const [message] = await messagesOf(db, computation.id);
  const data = Buffer.concat(await Array.fromAsync(readBlob(db, message!.blob)));
  expect(data.includes(Buffer.from(randomSeed!))).toBe(false);
  expect((await world.finish(measurement)).state).toBe('SUCCEEDED');
});

test('an exchange that changes what was accepted fails the computation', async () => {
  const measurement = await world.ask();
  await world.turn();
  const { duchy } = world.of('FIRST_WORKER');
  const { view } = await pending(world.of('FIRST_WORKER'));
  const config = { ...view.protocolConfig.honestMajorityShareShuffle!, noiseMechanism: 'GEOMETRIC' as const };
  const changed = { ...view, etag: 'another', protocolConfig: { honestMajorityShareShuffle: config } };
  await follow(duchy, changed);
  await expectFailure(measurement, /COMPUTATION_CHANGED: /);
});

test('a duchy that gives up ends the computation for all, and a cancelled one ends everywhere', async () => {
  const measurement = await started();
  const { client } = world.of('AGGREGATOR').duchy;
  const { view } = await pending(world.of('AGGREGATOR'));
  const { etag } = await client.getComputation({ name: view.name! });
  await client.failComputation({ name: view.name!, body: { etag: etag!, code: 'STAGE_FAILED' } });
  await expectFailure(measurement, /duchies\/gamma gave up: STAGE_FAILED: /);

  const cancelled = await started();
  await world.acme.client.cancelMeasurement({ name: cancelled.name!, body: {} } as never);
  await world.turn();
  for (const { query } of world.duchies) {
    const [last] = await query('SELECT outcome FROM computations ORDER BY create_time DESC LIMIT 1');
    expect(last).toEqual({ outcome: 'CANCELLED' });
  }
});
