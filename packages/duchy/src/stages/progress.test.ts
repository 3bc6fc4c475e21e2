import {
  type Computation,
  type DuchyRole,
  type ShareShuffleConfig,
  stepsOf,
} from '@measurement-exchange/contract';
import { expect, test } from 'vitest';
import { rowOf, runAfter, sendersOf } from './progress.ts';
import { FIRST_STAGE, SHARE_SHUFFLE } from './shareShuffle.ts';
import { COMPLETE } from './table.ts';

const protocol = 'honestMajorityShareShuffle';
const ROLES: DuchyRole[] = ['FIRST_WORKER', 'SECOND_WORKER', 'AGGREGATOR'];

test.each(ROLES)('the %s goes from the first stage to the last one, and through no other', (role) => {
  const seen: string[] = [];
  for (let stage = FIRST_STAGE; stage !== COMPLETE; stage = rowOf({ protocol, role, stage })!.next) {
    expect(seen).not.toContain(stage);
    seen.push(stage);
  }
  expect(seen.sort()).toEqual(
    SHARE_SHUFFLE.filter((row) => row.role === role)
      .map((row) => row.stage)
      .sort(),
  );
});

test('a stage either waits or is worked on, and what one role sends another one waits for', () => {
  for (const row of SHARE_SHUFFLE) {
    expect(row.waitsFor === undefined).toBe(row.run !== undefined);
    const { sends } = row;
    if (sends === undefined || sends.to === 'exchange') continue;
    const receiver = SHARE_SHUFFLE.find(
      ({ role, waitsFor }) =>
        role === sends.to && waitsFor && 'message' in waitsFor && waitsFor.message === sends.message,
    );
    expect(receiver?.waitsFor).toMatchObject({ from: expect.arrayContaining([row.role]) });
  }
});

test('the exchange knows what is worked on once all data is there, and who waits for whom', () => {
  const working = SHARE_SHUFFLE.filter(({ sends }) => sends !== undefined);
  const keys = (rows: readonly { role: string; stage: string }[]) =>
    rows.map(({ role, stage }) => `${role} ${stage}`).sort();
  const config = { firstWorker: 'FIRST_WORKER', secondWorker: 'SECOND_WORKER', aggregator: 'AGGREGATOR' };
  const steps = stepsOf({ honestMajorityShareShuffle: config as ShareShuffleConfig }).map(
    ({ duchy: role, ...rest }) => ({ role, ...rest }),
  );
  expect(keys(steps)).toEqual(keys(working));
  const stepOf = (role: DuchyRole, stage: string) =>
    steps.find((s) => s.role === role && s.stage === stage)!.step;
  for (const { role, next, waitsFor } of SHARE_SHUFFLE) {
    if (waitsFor === undefined || !('message' in waitsFor)) continue;
    for (const sender of working.filter((row) => row.sends!.message === waitsFor.message)) {
      expect(stepOf(sender.role, sender.stage)).toBeLessThan(stepOf(role, next));
    }
  }
});

test('a mill may take a stage that does not wait, and nothing of what is complete', () => {
  expect(runAfter({ protocol, role: 'FIRST_WORKER', stage: 'SETUP_PHASE' })).not.toBeNull();
  expect(runAfter({ protocol, role: 'FIRST_WORKER', stage: 'WAIT_TO_START' })).toBeNull();
  expect(runAfter({ protocol, role: 'FIRST_WORKER', stage: COMPLETE })).toBeNull();
  expect(() => rowOf({ protocol, role: 'AGGREGATOR', stage: 'SETUP_PHASE' })).toThrow(
    /does not know the stage/,
  );
});

test('a message is taken from the duchies whose role sends it to this role', () => {
  const participants: Computation['participants'] = {
    'duchies/alpha': { role: 'FIRST_WORKER', state: 'READY' },
    'duchies/beta': { role: 'SECOND_WORKER', state: 'READY' },
    'duchies/gamma': { role: 'AGGREGATOR', state: 'READY' },
  };
  const senders = (role: DuchyRole, message: string) =>
    sendersOf({ protocol, role, view: { participants } as Computation }, message);
  expect(senders('SECOND_WORKER', 'SHUFFLE_PHASE_INPUT_ONE')).toEqual(['duchies/alpha']);
  expect(senders('FIRST_WORKER', 'SHUFFLE_PHASE_INPUT_TWO')).toEqual(['duchies/beta']);
  expect(senders('AGGREGATOR', 'AGGREGATION_PHASE_INPUT')).toEqual(['duchies/alpha', 'duchies/beta']);
  expect(senders('FIRST_WORKER', 'SHUFFLE_PHASE_INPUT_ONE')).toEqual([]);
  expect(senders('FIRST_WORKER', 'AGGREGATION_PHASE_INPUT')).toEqual([]);
  expect(senders('AGGREGATOR', 'RESULT')).toEqual([]);
});
