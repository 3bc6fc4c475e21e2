/**
 * Tests that stages verify their input: each lie that a duchy can detect fails the computation for all parties. A
 * worker that sends wrong shares in a valid format is not detected, so the figure is wrong.
 */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type BindingFields,
  createSigner,
  decrypt,
  encrypt,
  packSignedMessage,
  publicKeysetOf,
  unpackSignedMessage,
} from '@measurement-exchange/consent';
import {
  type DuchyRole,
  describeFailure,
  shareShuffle,
  specs,
  TYPE_URLS,
} from '@measurement-exchange/contract';
import { newSeed } from '@measurement-exchange/mpc/shares';
import { Unreachable } from '@measurement-exchange/sdk';
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
import { runStage } from '../../src/protocols.ts';
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

/** Returns the pending computation as a duchy stores it. */
async function pending({ duchy, query }: TestDuchy): Promise<StoredComputation> {
  const [row] = await query('SELECT id FROM computations WHERE outcome IS NULL');
  return (await readComputation(duchy.db, row!.id as string))!;
}

interface Liar {
  liar: TestDuchy;
  computation: StoredComputation;
  /** The message that an honest stage computes. */
  honest: Uint8Array;
}

/** Runs turns until this worker reaches this stage. The output of the stage is not stored yet. */
async function comeTo(role: DuchyRole, stage: string): Promise<Liar> {
  const liar = world.of(role);
  for (let turns = 0; turns < 50; turns++) {
    await liar.herald.once();
    const computation = await pending(liar);
    if (computation.stage === stage) {
      const { signal } = new AbortController();
      const work = { duchy: liar.duchy, computation, signal, onProgress: () => {} };
      return { liar, computation, honest: (await runStage(work))! };
    }
    // Let every duchy run one stage. Skip the liar's mill if the liar waits for input: the input could arrive now, and
    // the mill would then run the wanted stage.
    for (const { herald, mill } of world.duchies) {
      if (mill !== liar.mill) await herald.once();
      if (mill !== liar.mill || rowOf(computation)?.run) await mill.once();
    }
  }
  throw new Error(`${role} does not come to ${stage}`);
}

/** Lets a worker send a message that differs from the output of its stage. */
function tell({ liar, computation }: Liar, lie: Uint8Array): Promise<unknown> {
  return storeOutput(liar.duchy, computation, rowOf(computation)!.sends!, lie);
}

/**
 * The columns that RESTORE resets before each lie. The exchange's state is not reset, because the exchange does not
 * learn about these lies.
 */
const STATE = ['stage', 'attempt', 'run_after', 'lease_token', 'lease_until', 'lease_owner', 'last_error'];
const SAVE = `CREATE TABLE saved_computations AS TABLE computations; CREATE TABLE saved_messages AS TABLE messages`;
const RESTORE = `SET session_replication_role = replica;
  DELETE FROM messages; INSERT INTO messages SELECT * FROM saved_messages;
  UPDATE computations c SET ${STATE.map((column) => `${column} = s.${column}`).join()}
    FROM saved_computations s WHERE s.id = c.id;
  SET session_replication_role = origin`;
const FORGET = 'DROP TABLE saved_computations, saved_messages';
const atAllDuchies = (text: string) => Promise.all(world.duchies.map(({ query }) => query(text)));

const others = ({ liar }: Liar) => world.duchies.filter((each) => each !== liar);

/** Saves the state after the other duchies have done all due work, so that this work is not repeated for each lie. */
async function save(told: Liar): Promise<void> {
  for (const { mill } of others(told)) while (await mill.once());
  await atAllDuchies(SAVE);
}

/** Returns the failure that a duchy reports when it receives the lie and gives up. */
async function saidOf(told: Liar, lie: Uint8Array): Promise<string> {
  await atAllDuchies(RESTORE);
  await tell(told, lie);
  const said: string[] = [];
  const honest = world.duchies.map(({ duchy }) => duchy.client.failComputation);
  for (const { duchy } of world.duchies) {
    duchy.client.failComputation = async ({ body }) => {
      said.push(`${duchy.name} gave up: ${describeFailure(body.code, body.position)}`);
      throw new Unreachable('The exchange does not respond.');
    };
  }
  try {
    await told.liar.mill.once();
    for (let turns = 0; turns < 10 && said.length === 0; turns++) {
      for (const { mill } of others(told)) await mill.once();
    }
  } finally {
    world.duchies.forEach(({ duchy }, i) => {
      duchy.client.failComputation = honest[i]!;
    });
  }
  return said.join();
}

/** Expects that the measurement fails and that all duchies know it. */
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

/**
 * The schema of the message between workers. Decoded byte fields share memory with the bytes from which they were
 * decoded, so tests decode a copy. Otherwise, changing a field would also change the honest message.
 */
const Seeds = shareShuffle.ShufflePhaseInputSchema;
type SeedsInput = shareShuffle.ShufflePhaseInput;

/** Finds a worker that received at least one upload. Random IDs decide which worker receives uploads. */
async function workerWithUploads(): Promise<{ role: DuchyRole; other: TestDuchy }> {
  const first = world.of('FIRST_WORKER');
  const { view } = await pending(first);
  const isFirst = view.requisitions.some((r) => r.fulfillingDuchy === first.duchy.name);
  return isFirst
    ? { role: 'FIRST_WORKER', other: world.of('SECOND_WORKER') }
    : { role: 'SECOND_WORKER', other: first };
}

describe('the seeds that a worker passes on', () => {
  let measurement: Awaited<ReturnType<DuchyWorld['ask']>>;
  let told: Liar;
  let other: TestDuchy;
  beforeAll(async () => {
    measurement = await started();
    const worker = await workerWithUploads();
    other = worker.other;
    told = await comeTo(worker.role, 'SETUP_PHASE');
    await save(told);
  });
  afterAll(() => atAllDuchies(FORGET));

  test.each<[what: string, spoil: (input: SeedsInput) => void, message: RegExp]>([
    [
      'one is missing',
      (input) => input.secretSeeds.pop(),
      /PEER_MESSAGE_INVALID at SHUFFLE_PHASE_INPUT_\w+ of duchies\/\w+: /,
    ],
    [
      'one is duplicated',
      (input) => input.secretSeeds.push(input.secretSeeds[0]!),
      /PEER_MESSAGE_INVALID at SHUFFLE_PHASE_INPUT_\w+ of duchies\/\w+: /,
    ],
    [
      'one is for another requisition',
      (input) => {
        input.secretSeeds[0]!.requisitionId = 'another';
      },
      /PEER_MESSAGE_INVALID at SHUFFLE_PHASE_INPUT_\w+ of duchies\/\w+: /,
    ],
    [
      'one has another register count',
      (input) => {
        input.secretSeeds[0]!.registerCount = 999n;
      },
      /SEED_INVALID at dataProviders\/\w+\/requisitions\/\w+: /,
    ],
    [
      'one names a certificate of another provider',
      (input) => {
        input.secretSeeds[0]!.dataProviderCertificate = 'dataProviders/nobody/certificates/none';
      },
      /CERTIFICATE_FOREIGN at dataProviders\/\w+: /,
    ],
    [
      'one cannot be decrypted',
      (input) => {
        input.secretSeeds[0]!.secretSeedCiphertext[20]! ^= 1;
      },
      /SEED_INVALID at dataProviders\/\w+\/requisitions\/\w+: /,
    ],
    [
      'the random seed is too short',
      (input) => {
        input.peerRandomSeed = new Uint8Array(47);
      },
      /PEER_MESSAGE_INVALID at SHUFFLE_PHASE_INPUT_\w+ of duchies\/\w+: /,
    ],
    [
      'the random seed is not the one to which the worker committed',
      (input) => {
        input.peerRandomSeed = newSeed();
      },
      /PEER_MESSAGE_INVALID at peerRandomSeed of SHUFFLE_PHASE_INPUT_\w+ of duchies\/\w+: /,
    ],
  ])('fail the computation if %s', async (_what, spoil, message) => {
    const input = fromBinary(Seeds, told.honest.slice());
    spoil(input);
    expect(await saidOf(told, toBinary(Seeds, input))).toMatch(message);
  });

  test('fail the computation if the provider did not sign them', async () => {
    const input = fromBinary(Seeds, told.honest.slice());
    const { privateKeyset } = await readSecrets(other.duchy.db, told.computation.id);
    const seed = toBinary(specs.RandomSeedSchema, create(specs.RandomSeedSchema, { data: newSeed() }));
    const signed = await told.liar.duchy.signer.sign(seed);
    input.secretSeeds[0]!.secretSeedCiphertext = await encrypt(
      publicKeysetOf(privateKeyset!),
      packSignedMessage(signed, TYPE_URLS.SignedMessage),
    );
    expect(await saidOf(told, toBinary(Seeds, input))).toMatch(
      /SEED_INVALID at dataProviders\/\w+\/requisitions\/\w+: /,
    );
  });

  // biome-ignore format: a table, one row per line
  test.each<[what: string, change: Partial<BindingFields>, says: RegExp]>([
    ['another computation', { computation: 'another' }, /TERMS_MISMATCH at dataProviders\/\w+\/requisitions\/[^ ]+: /],
    ['another requisition', { requisition: 'dataProviders/dailynews/requisitions/r' }, /TERMS_MISMATCH at dataProviders\/\w+\/requisitions\/[^ ]+: /],
    ['another duchy', { duchy: 'duchies/gamma' }, /TERMS_MISMATCH at dataProviders\/\w+\/requisitions\/[^ ]+: /],
    ['another purpose', { purpose: 'mex.contract.EncryptionPublicKey' }, /TERMS_MISMATCH at dataProviders\/\w+\/requisitions\/[^ ]+: /],
    ['other terms', { termsSha256: new Uint8Array(32) }, /TERMS_MISMATCH at dataProviders\/\w+\/requisitions\/[^ ]+: /],
  ])('fail the computation if the provider signed one for %s', async (_what, change, says) => {
    const input = fromBinary(Seeds, told.honest.slice());
    const [passed] = input.secretSeeds as [(typeof input.secretSeeds)[number]];
    const { privateKeyset } = await readSecrets(other.duchy.db, told.computation.id);
    const { message } = unpackSignedMessage(await decrypt(privateKeyset!, passed.secretSeedCiphertext));
    const seed = fromBinary(specs.RandomSeedSchema, message);
    Object.assign(seed.binding!, change);
    const provider = world.providers.find(({ name }) =>
      passed.dataProviderCertificate.startsWith(`${name}/`),
    )!;
    const signer = await createSigner(provider.privateKeyPem);
    passed.secretSeedCiphertext = await encrypt(
      publicKeysetOf(privateKeyset!),
      packSignedMessage(
        await signer.sign(toBinary(specs.RandomSeedSchema, seed)),
        `type.googleapis.com/${specs.RandomSeedSchema.typeName}`,
      ),
    );
    expect(await saidOf(told, toBinary(Seeds, input))).toMatch(says);
  });

  test('reach the other worker encrypted', async () => {
    await atAllDuchies(RESTORE);
    await tell(told, told.honest);
    await told.liar.mill.once();
    const { randomSeed } = await readSecrets(told.liar.duchy.db, told.computation.id);
    expect(Buffer.from(told.honest).includes(Buffer.from(randomSeed!))).toBe(true);
    const received = await messagesOf(other.duchy.db, told.computation.id);
    const { blob } = received.find(({ direction }) => direction === 'IN')!;
    const data = Buffer.concat(await Array.fromAsync(readBlob(other.duchy.db, blob)));
    expect(data.length).toBeGreaterThan(randomSeed!.length);
    expect(data.includes(Buffer.from(randomSeed!))).toBe(false);
  });

  test('fail the computation for all parties if the message cannot be decoded', async () => {
    await atAllDuchies(RESTORE);
    await tell(told, Uint8Array.of(0xff, 0xff));
    await expectFailure(measurement, /PEER_MESSAGE_INVALID at SHUFFLE_PHASE_INPUT_\w+ of duchies\/\w+: /);
  });
});

describe('the shares that a worker sends to the aggregator', () => {
  let measurement: Awaited<ReturnType<DuchyWorld['ask']>>;
  let told: Liar;
  beforeAll(async () => {
    measurement = await started();
    told = await comeTo('SECOND_WORKER', 'SHUFFLE_PHASE');
    await save(told);
  });
  afterAll(() => atAllDuchies(FORGET));

  test.each<[what: string, spoil: (honest: Uint8Array) => Uint8Array, message: RegExp]>([
    [
      'are too few',
      (honest) => Uint8Array.of(0x0a, 1, 0, ...honest.subarray(-3)),
      /PEER_MESSAGE_INVALID at AGGREGATION_PHASE_INPUT: /,
    ],
    [
      'have another register count',
      (honest) => honest.with(-1, honest.at(-1)! ^ 1),
      /PEER_MESSAGE_INVALID at AGGREGATION_PHASE_INPUT: /,
    ],
    [
      'contain a value outside the ring',
      (honest) => honest.with(10, 127),
      /PEER_MESSAGE_INVALID at AGGREGATION_PHASE_INPUT: /,
    ],
    ['cannot be decoded', () => Uint8Array.of(1, 2, 3), /PEER_MESSAGE_INVALID at AGGREGATION_PHASE_INPUT: /],
  ])('fail the computation if they %s', async (_what, spoil, message) => {
    expect(await saidOf(told, spoil(told.honest))).toMatch(message);
  });

  test('fail the computation for all parties if they cannot be decoded', async () => {
    await atAllDuchies(RESTORE);
    await tell(told, Uint8Array.of(1, 2, 3));
    await expectFailure(measurement, /PEER_MESSAGE_INVALID at AGGREGATION_PHASE_INPUT: /);
  });

  test('give a wrong figure, but no failure, if they are wrong in a valid format', async () => {
    const maximumFrequency = 4;
    const measurement = await world.ask({ type: 'reachAndFrequency', maximumFrequency });
    await world.turn();
    await uploadAll(world, measurement, AUDIENCES, { cap: maximumFrequency });
    // The lie adds 50 to every register, but keeps the message format valid. A register at 0 then counts as the highest
    // frequency.
    const worker = await comeTo('FIRST_WORKER', 'SHUFFLE_PHASE');
    await tell(
      worker,
      worker.honest.map((value, i) => (i >= 3 && i < 1003 ? (value + 50) % 127 : value)),
    );
    const { total } = await world.consumer.open(await world.finish(measurement));
    const { reach, frequency } = total.deduplicated!;
    expect(reach!.value).toBe(1000);
    expect(frequency!.map(({ share }) => share.value)).toEqual([0, 0, 0, 1]);
  });

  test('give a reach of 0 and no frequency distribution if the providers reached no people', async () => {
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

test('a computation fails if the exchange changes its accepted noise mechanism', async () => {
  const measurement = await world.ask();
  await world.turn();
  const { duchy } = world.of('FIRST_WORKER');
  const { view } = await pending(world.of('FIRST_WORKER'));
  const config = { ...view.protocolConfig.honestMajorityShareShuffle!, noiseMechanism: 'GEOMETRIC' as const };
  const changed = { ...view, etag: 'another', protocolConfig: { honestMajorityShareShuffle: config } };
  await follow(duchy, changed);
  await expectFailure(measurement, /COMPUTATION_CHANGED: /);
});

test('a computation ends at all duchies if one duchy fails it or the consumer cancels it', async () => {
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
