/**
 * Tests messages from other duchies. A duchy accepts a message only once, only from the duchy with the expected role,
 * and only at the stage that waits for this message.
 */
import type { duchyMessages, SignedMessage } from '@measurement-exchange/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endComputation, messagesOf, readBlob, readComputation } from '../../src/database/index.ts';
import type { TestComputation } from '../view.ts';
import {
  type Answer,
  type FaceWorld,
  makeMessage,
  sendMessage,
  startFaceWorld,
  type TestMessage,
} from './world.ts';

const SHARES = 'AGGREGATION_PHASE_INPUT';
const WAIT = 'WAIT_ON_AGGREGATION_INPUT';
const FIRST = { stage: SHARES, sender: 'duchies/alpha' };
const SECOND = { stage: SHARES, sender: 'duchies/beta' };

let world: FaceWorld;
beforeAll(async () => {
  world = await startFaceWorld('duchies/gamma');
});
afterAll(() => world.stop());

test('the aggregator starts its next stage when it has the message of each worker', async () => {
  const computation = await world.computation(WAIT);
  const first = await makeMessage(world, computation, FIRST);
  expect(await sendMessage(world, first)).toMatchObject({
    status: 200,
    body: { computation: computation.id, stage: SHARES },
  });
  expect(await readComputation(world.database.db, computation.id)).toMatchObject({
    stage: WAIT,
    runAfter: null,
  });
  const { woken } = world.duchy.mills;
  expect(await sendMessage(world, await makeMessage(world, computation, SECOND))).toMatchObject({
    status: 200,
  });
  expect(woken.aborted).toBe(true);
  expect(await readComputation(world.database.db, computation.id)).toMatchObject({
    stage: 'AGGREGATION_PHASE',
    runAfter: expect.any(Date),
  });
  const [stored] = await messagesOf(world.database.db, computation.id);
  expect(stored).toMatchObject({ direction: 'IN', peer: 'duchies/alpha', stage: SHARES });
  const data = Buffer.concat(await Array.fromAsync(readBlob(world.database.db, stored!.blob)));
  expect(data.equals(first.data)).toBe(true);
});

test('concurrent messages of both workers start the next stage of the aggregator', async () => {
  const computation = await world.computation(WAIT);
  const sent = [FIRST, SECOND].map(async (about) =>
    sendMessage(world, await makeMessage(world, computation, about)),
  );
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await readComputation(world.database.db, computation.id))!.stage).toBe('AGGREGATION_PHASE');
});

test('a repeated message gets the same response and is stored once, even after the computation has ended', async () => {
  const computation = await world.computation(WAIT);
  const first = await makeMessage(world, computation, FIRST);
  const answer = await sendMessage(world, first);
  expect(await sendMessage(world, first)).toEqual(answer);
  await sendMessage(world, await makeMessage(world, computation, SECOND));
  expect(await sendMessage(world, first)).toEqual(answer);
  await endComputation(world.database.db, computation.id, { outcome: 'SUCCEEDED' });
  expect(await sendMessage(world, first)).toEqual(answer);
  expect(await world.kept(computation.id)).toEqual({ uploads: 0, messages: 2, blobs: 2 });
});

test('a message with other content for the same stage is rejected, and the first message is unchanged', async () => {
  const computation = await world.computation(WAIT);
  await sendMessage(world, await makeMessage(world, computation, FIRST));
  const [before] = await messagesOf(world.database.db, computation.id);
  const other = await makeMessage(world, computation, FIRST);
  expect(await sendMessage(world, other)).toMatchObject({ status: 409, reason: 'UPLOAD_ALREADY_EXISTS' });
  expect(await messagesOf(world.database.db, computation.id)).toEqual([before]);
  expect(await world.kept(computation.id)).toMatchObject({ messages: 1, blobs: 1 });
});

test('a message is accepted one stage early, but otherwise rejected with STAGE_OUT_OF_ORDER', async () => {
  const worker = await startFaceWorld('duchies/alpha');
  try {
    const about = { stage: 'SHUFFLE_PHASE_INPUT_TWO', sender: 'duchies/beta' };
    const waiting = await worker.computation('WAIT_TO_START');
    const message = await makeMessage(worker, waiting, about);
    expect(await sendMessage(worker, message)).toMatchObject({ status: 409, reason: 'STAGE_OUT_OF_ORDER' });
    expect(await worker.kept(waiting.id)).toMatchObject({ messages: 0, blobs: 0 });

    const running = await worker.computation('SETUP_PHASE');
    expect(await sendMessage(worker, await makeMessage(worker, running, about))).toMatchObject({
      status: 200,
    });
    expect((await readComputation(worker.database.db, running.id))!.stage).toBe('SETUP_PHASE');

    const done = await worker.computation('COMPLETE');
    const late = await makeMessage(worker, done, about);
    expect(await sendMessage(worker, late)).toMatchObject({ status: 409, reason: 'STAGE_OUT_OF_ORDER' });
  } finally {
    await worker.stop();
  }
});

test('a message for a computation that has ended, or that is unknown, is rejected', async () => {
  const ended = await world.computation(WAIT);
  await endComputation(world.database.db, ended.id, { outcome: 'FAILED' });
  const message = await makeMessage(world, ended, FIRST);
  expect(await sendMessage(world, message)).toMatchObject({
    status: 400,
    reason: 'COMPUTATION_STATE_ILLEGAL',
  });
  const unknown = await makeMessage(world, { ...ended, id: 'unknown' }, FIRST);
  expect(await sendMessage(world, unknown)).toMatchObject({ status: 404, reason: 'COMPUTATION_NOT_FOUND' });
});

const flip = (bytes: Uint8Array) => bytes.with(-1, bytes.at(-1)! ^ 1);
const otherKey = (party: string) => (sent: TestMessage) => {
  sent.privateKeyPem = world.identities[party]!.privateKeyPem;
};
const set =
  (change: Partial<duchyMessages.StageMessage>) =>
  ({ message }: TestMessage) =>
    void Object.assign(message, change);
const signed = (spoil: (signed: SignedMessage) => SignedMessage) => (sent: TestMessage) => {
  sent.afterSigning = spoil;
};
const at = (field: string): Partial<Answer> => ({ status: 400, reason: 'UPLOAD_MISMATCH', field });
const invalid: Partial<Answer> = {
  status: 400,
  reason: 'CERTIFICATE_IS_INVALID',
  field: 'message.certificate',
};

// biome-ignore format: a table, one row per line
const SPOILED: [what: string, spoil: (sent: TestMessage) => void, expected: Partial<Answer>][] = [
  ['a signature of the other worker', otherKey('duchies/beta'), at('message.signature')],
  ['a signature of a provider', otherKey('dataProviders/streamly'), at('message.signature')],
  ['a changed signature', signed((s) => ({ ...s, signature: flip(s.signature) })), at('message.signature')],
  ['the certificate of the other worker', set({ certificate: 'duchies/beta/certificates/1' }), invalid],
  ['a certificate that does not exist', set({ certificate: 'duchies/alpha/certificates/9' }), invalid],
  ['the aggregator itself as the sender', set({ sender: 'duchies/gamma' }), at('message.sender')],
  ['a sender that is not a participant', set({ sender: 'duchies/delta' }), at('message.sender')],
  ['a stage of another role', set({ stage: 'SHUFFLE_PHASE_INPUT_ONE' }), at('message.stage')],
  ['a stage that does not exist', set({ stage: 'constructor' }), at('message.stage')],
  ['another recipient', set({ recipient: 'duchies/beta' }), at('message.recipient')],
  ['another computation', set({ computation: 'other' }), at('message.computation')],
  ['other terms', set({ termsSha256: new Uint8Array(32) }), at('message.termsSha256')],
  ['no terms', set({ termsSha256: new Uint8Array() }), at('message.termsSha256')],
  ['another purpose', set({ purpose: 'mex.contract.Fulfillment' }), at('message.purpose')],
  ['a short digest', set({ dataSha256: new Uint8Array(31) }), at('message.dataSha256')],
  ['another digest', set({ dataSha256: new Uint8Array(32) }), at('data')],
  ['a length above all limits', set({ dataLength: 2n ** 40n }), at('message.dataLength')],
  ['a length above the limit of this stage', set({ dataLength: 2n ** 23n }), at('message.dataLength')],
  ['a negative length', set({ dataLength: -1n }), at('message.dataLength')],
  ['a length greater than that of the data', set({ dataLength: 501n }), at('data')],
  ['a length less than that of the data', set({ dataLength: 499n }), at('data')],
  ['changed data', (sent) => { sent.data = flip(sent.data); }, at('data')],
  ['a message that cannot be decoded', signed((s) => ({ ...s, message: Uint8Array.of(0xff) })), { reason: 'INVALID_FIELD_VALUE', field: 'message.message' }],
];

describe('a message with one defect is rejected, and nothing is stored:', () => {
  let computation: TestComputation;
  beforeAll(async () => {
    computation = await world.computation(WAIT);
  });
  test.each(SPOILED)('%s', async (_what, spoil, expected) => {
    const sent = await makeMessage(world, computation, FIRST);
    spoil(sent);
    expect(await sendMessage(world, sent)).toMatchObject(expected);
    expect(await world.kept(computation.id)).toEqual({ uploads: 0, messages: 0, blobs: 0 });
  });
});
