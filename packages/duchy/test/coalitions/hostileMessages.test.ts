/**
 * Sends the same requests of a hostile provider or duchy to two test worlds. The worlds differ only in one register of
 * another provider's data. Checks that both worlds give the same responses, that no response is a server error, and
 * that no text from a request appears in a log or at the exchange.
 */

import { randomBytes } from 'node:crypto';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Duchy } from '../../src/computations/context.ts';
import { type LegionsComputation, makeLegions, makeSketch, points } from '../face/sketches.ts';
import {
  type FaceWorld,
  makeMessage,
  makeUpload,
  post,
  randomShare,
  sendUpload,
  sha256,
  startFaceWorld,
  type TestUpload,
  withData,
} from '../face/world.ts';
import { MODULUS, PROVIDERS, type TestComputation } from '../view.ts';
import { Draw, freeText, type Hostile, hostileRequest, MARKER } from './hostile.ts';

const COUNT = rounds(600, 40);
/**
 * The number of requests per computation. The number is small, because a duchy that has accepted an upload or a message
 * answers all later ones with a conflict.
 */
const PER_COMPUTATION = 8;
const [ATTACKER, VICTIM] = [0, 1] as const;

const SHARE_SHUFFLE = 'honestMajorityShareShuffle';
const MESSAGES = {
  [SHARE_SHUFFLE]: {
    stage: 'WAIT_ON_SHUFFLE_INPUT_PHASE_TWO',
    message: { stage: 'SHUFFLE_PHASE_INPUT_TWO', sender: 'duchies/beta' },
  },
  reachOnlyLiquidLegionsV2: {
    stage: 'WAIT_EXECUTION_PHASE_INPUTS',
    message: { stage: 'EXECUTION_PHASE_INPUT', sender: 'duchies/gamma' },
  },
  liquidLegionsV2: {
    stage: 'WAIT_EXECUTION_PHASE_ONE_INPUTS',
    message: { stage: 'EXECUTION_PHASE_ONE_INPUT', sender: 'duchies/gamma' },
  },
};
type Protocol = keyof typeof MESSAGES;
const PROTOCOLS = Object.keys(MESSAGES) as Protocol[];

/** The registers that both providers upload. In one of the worlds, the victim's last register has a different value. */
const SHARE = randomShare();
const SKETCHES = { reachOnlyLiquidLegionsV2: points(5 * 2), liquidLegionsV2: points(5 * 6) };
const MESSAGE = randomBytes(500);

interface World extends FaceWorld {
  hasOneMore: boolean;
  /** Every call to the exchange. */
  told: string[];
}

let worlds: World[];
beforeAll(async () => {
  const limits = { rejectedPerMinute: 1_000_000 };
  worlds = await Promise.all(
    [false, true].map(async (hasOneMore) => {
      const world = await startFaceWorld('duchies/alpha', limits);
      const told: string[] = [];
      listenTo(world.duchy, told);
      return { ...world, hasOneMore, told };
    }),
  );
});
afterAll(() => Promise.all(worlds.map((world) => world.stop())));

/** Records every call of the duchy to the exchange. */
function listenTo(duchy: Duchy, told: string[]): void {
  const calls = Object.entries(duchy.client).map(([operation, call]) => [
    operation,
    (args: unknown) => {
      told.push(
        JSON.stringify([operation, args], (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
      );
      return (call as (args: unknown) => unknown)(args);
    },
  ]);
  duchy.client = Object.fromEntries(calls);
}

/** Starts a computation to which the victim has already uploaded. */
async function begin(world: World, protocol: Protocol): Promise<TestComputation> {
  if (protocol === SHARE_SHUFFLE) {
    const computation = await world.computation();
    const upload = await makeUpload(world, computation, VICTIM);
    const last = SHARE.at(-1)!;
    await upload.seal(world.hasOneMore ? SHARE.with(-1, (last + 1) % MODULUS) : SHARE);
    expect((await sendUpload(world, upload)).status).toBe(200);
    return computation;
  }
  const computation = await makeLegions(world, protocol);
  const upload = await makeSketch(world, computation, VICTIM);
  const sketch = SKETCHES[protocol];
  withData(upload, world.hasOneMore ? Buffer.concat([sketch.subarray(0, -33), points(1)]) : sketch);
  expect((await sendUpload(world, upload)).status).toBe(200);
  return computation;
}

/** Builds a valid request from the attacker: an upload, or a message from a duchy. */
async function honest(
  world: World,
  protocol: Protocol,
  computation: TestComputation,
  isUpload: boolean,
): Promise<Hostile> {
  const otherKeys = [PROVIDERS[VICTIM], 'duchies/beta', 'measurementConsumers/acme'].map(
    (party) => world.identities[party]!.privateKeyPem,
  );
  if (!isUpload) {
    const { stage, message } = MESSAGES[protocol];
    await world.database.query('UPDATE computations SET stage = $2 WHERE id = $1', [computation.id, stage]);
    const sent = await makeMessage(world, computation, message);
    Object.assign(sent, { data: MESSAGE });
    sent.message.dataSha256 = sha256(MESSAGE);
    return { ...sent, part: 'message', path: `/v2alpha/computations/${computation.id}:advance`, otherKeys };
  }
  const { requisition, fulfillment, ...upload } = await uploadOf(world, protocol, computation);
  const path = `/v2alpha/${requisition}:fulfill`;
  return { ...upload, part: 'fulfillment', message: fulfillment, path, otherKeys };
}

async function uploadOf(world: World, protocol: Protocol, computation: TestComputation): Promise<TestUpload> {
  if (protocol === SHARE_SHUFFLE) {
    const upload = await makeUpload(world, computation, ATTACKER);
    await upload.seal(SHARE);
    return upload;
  }
  const upload = await makeSketch(world, computation as LegionsComputation, ATTACKER);
  withData(upload, SKETCHES[protocol]);
  return upload;
}

/** Sends the hostile requests and returns the responses that the sender sees. */
async function attack(world: World, protocol: Protocol): Promise<string[]> {
  const draw = new Draw(`hostile ${protocol}`);
  const seen: string[] = [];
  let computation: TestComputation | undefined;
  for (let i = 0; i < COUNT; i++) {
    // For each computation, send uploads first and then messages, because the stages receive them in this order.
    const turn = i % PER_COMPUTATION;
    if (turn === 0) computation = await begin(world, protocol);
    const sent = await honest(world, protocol, computation!, turn < PER_COMPUTATION / 2);
    // This index selects the field that gets the free text. Each computation uses the next two indexes, so enough
    // computations cover all fields.
    const text = 2 * Math.floor(i / PER_COMPUTATION) + (turn % 4 === 3 ? 1 : 0);
    const { what, path, body, headers } =
      turn % 2 === 1 ? await freeText(sent, text) : await hostileRequest(sent, draw);
    const { status, reason, field, body: answer } = await post(`${world.url}${path}`, body as never, headers);
    const message = (answer as { error?: { message: string } }).error?.message ?? '';
    expect(message).not.toContain(MARKER);
    seen.push(`${what} → ${status} ${reason} ${field} ${message}`);
  }
  return seen;
}

describe.each(PROTOCOLS)('%s', (protocol) => {
  const timeout = 30_000 + COUNT * 500;
  test(`${COUNT} hostile uploads and messages get the same responses in both worlds, and leak no free text`, {
    timeout,
  }, async () => {
    for (const { logs, told } of worlds) logs.length = told.length = 0;
    const [one, other] = await Promise.all(worlds.map((world) => attack(world, protocol)));
    expect(other).toEqual(one);
    expect(one!.filter((line) => / → 5\d\d /.test(line))).toEqual([]);
    // Check that the requests were varied enough: some must be accepted, and others must be rejected for several
    // different reasons.
    const outcomes = new Set(one!.map((line) => /→ (\d+ \w+)/.exec(line)![1]));
    expect(outcomes).toContain('200 undefined');
    expect(outcomes.size).toBeGreaterThan(5);
    for (const { logs, told } of worlds) {
      expect(logs.length).toBeGreaterThanOrEqual(COUNT);
      expect(logs.filter((line) => line.includes(MARKER) || /"level":(50|60)/.test(line))).toEqual([]);
      expect(told.filter((line) => !TOLD.test(line))).toEqual([]);
    }
  });
});

/**
 * Matches a call to the exchange if its arguments contain only names, etags, nonces, codes and positions. No other text
 * leaves a duchy.
 */
const TOLD =
  /^\["\w+",\{("(name|body|etag|requisition|nonce|code|position|field|stage|duchy|dataProvider)":("[\w/.\-[\]]*"|\{)|[,{}])*\]$/;
