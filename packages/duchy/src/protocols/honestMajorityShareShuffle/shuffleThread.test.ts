import {
  type ShuffleInput,
  shuffleStage,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/duchy';
import { shareShuffleParameters } from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/limits';
import { Dice, inChunks, upload, type World } from '@measurement-exchange/testkit/mpc/world';
import { describe, expect, test } from 'vitest';
import { shuffleInThread } from './shuffleThread.ts';

const dice = new Dice('thread');
const vids = Array.from({ length: 3001 }, (_, i) => i + 1);
const spec = {
  ringModulus: 127,
  noiseMechanism: 'DISCRETE_GAUSSIAN',
  measurementType: 'REACH_AND_FREQUENCY',
  maximumFrequency: 5,
  reachPrivacyParams: { epsilon: 1, delta: 1e-9 },
  frequencyPrivacyParams: { epsilon: 1, delta: 1e-9 },
} as const;
const world: World = {
  ranges: [{ start: 1, end: 3001 }],
  interval: { start: 0, width: 1 },
  events: [0, 1, 2].map(() => new Map(vids.map((vid) => [vid, dice.below(4)]))),
  spec,
};
const { shares, registerCount } = upload(world, dice);
const parameters = shareShuffleParameters({ ...spec, dataProviderCount: 3, registerCount });
const seeds = { commonSeed: dice.seed(), noiseSeed: dice.seed() };

/** Builds the input of a shuffle: two uploads in chunks of this size, and one seed. */
function input(size: number): ShuffleInput {
  const [first, second, third] = shares;
  return {
    parameters,
    role: 'SECOND_WORKER',
    ...seeds,
    shares: [
      { upload: inChunks(first!.bytes, size) },
      { seed: second!.seed },
      { upload: inChunks(third!.bytes, size) },
    ],
  };
}

describe('the shuffle stage', () => {
  test('returns the same bytes for every chunk size, also in a thread', async () => {
    const output = await shuffleStage(input(1_000_000));
    for (const size of [1, 2, 3, 1000]) expect(await shuffleStage(input(size))).toEqual(output);
    expect(await shuffleInThread(input(700))).toEqual(output);
  });

  test('returns different bytes for another noise seed', async () => {
    const output = await shuffleStage(input(1000));
    expect(await shuffleStage({ ...input(1000), noiseSeed: dice.seed() })).not.toEqual(output);
  });

  test.each<[string, Uint8Array, RegExp]>([
    ['is too short', shares[0]!.bytes.subarray(0, -1), /end within/],
    ['has fewer values', Uint8Array.of(0x0a, 2, 1, 1), /3001 values, and holds 2/],
    ['is empty', new Uint8Array(0), /3001 values, and holds 0/],
    [
      'has a value that is too large',
      Buffer.concat([shares[0]!.bytes.subarray(0, -1), Uint8Array.of(127)]),
      /ringModulus/,
    ],
  ])('rejects an upload that %s, also in a thread', async (_, bytes, message) => {
    const spoiled = () => ({ ...input(1000), shares: [{ upload: inChunks(bytes, 1000) }] });
    await expect(shuffleStage(spoiled())).rejects.toThrow(message);
    await expect(shuffleInThread(spoiled())).rejects.toThrow(message);
  });
});

describe('a shuffle thread', () => {
  /** Yields empty chunks without end. Calls `read` before each chunk, and `closed` when the reader stops. */
  async function* endless(read: () => void, closed: () => void): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        read();
        yield new Uint8Array(0);
      }
    } finally {
      closed();
    }
  }

  test('rejects with an AbortError if it is aborted, and closes its upload', async () => {
    const controller = new AbortController();
    let closed = false;
    const upload = endless(
      () => controller.abort(),
      () => {
        closed = true;
      },
    );
    const running = shuffleInThread({ ...input(1), shares: [{ upload }] }, controller.signal);
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    expect(closed).toBe(true);
    await expect(shuffleInThread(input(1), AbortSignal.abort(new Error('early')))).rejects.toThrow('early');
  });

  test('rejects with the error of an upload that cannot be read', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield shares[0]!.bytes.subarray(0, 100);
      throw new Error('the database is gone');
    }
    const running = shuffleInThread({ ...input(1), shares: [{ upload: broken() }] });
    await expect(running).rejects.toThrow('the database is gone');
  });
});
