import {
  type Computation,
  type DuchyRole,
  type ProtocolConfig,
  stepsOf,
} from '@measurement-exchange/contract';
import type { MpcProtocol } from '@measurement-exchange/mpc/protocols';
import { COMPLETE, EXCHANGE } from '@measurement-exchange/mpc/protocols/stages';
import { describe, expect, test } from 'vitest';
import { duchyAt } from './places.ts';
import { firstStage, rowOf, runAfter, sendersOf } from './progress.ts';

const [ALPHA, BETA, GAMMA, DELTA] = ['alpha', 'beta', 'gamma', 'delta'].map((id) => `duchies/${id}`) as [
  string,
  string,
  string,
  string,
];

/** Simulates one duchy of a computation without computing anything. */
class Player {
  readonly inbox = new Set<string>();
  stage: string;
  readonly name: string;
  readonly role: DuchyRole;
  readonly protocol: MpcProtocol;
  readonly view: Computation;

  constructor(name: string, protocol: MpcProtocol, roles: Record<string, DuchyRole>, config: object) {
    this.name = name;
    this.role = roles[name]!;
    this.protocol = protocol;
    this.stage = firstStage(protocol);
    const participants = Object.fromEntries(
      Object.entries(roles).map(([duchy, role]) => [duchy, { role, state: 'READY' }]),
    );
    this.view = {
      name: `${name}/computations/c`,
      participants,
      protocolConfig: { [protocol]: config },
    } as unknown as Computation;
  }
}

const shuffle = { firstWorker: ALPHA, secondWorker: BETA, aggregator: GAMMA };
const roles = (...workers: string[]): Record<string, DuchyRole> => ({
  ...Object.fromEntries(workers.map((worker) => [worker, 'WORKER'])),
  [GAMMA]: 'AGGREGATOR',
});
const SHUFFLE_ROLES = { [ALPHA]: 'FIRST_WORKER', [BETA]: 'SECOND_WORKER', [GAMMA]: 'AGGREGATOR' } as const;

describe.each<[what: string, protocol: MpcProtocol, roles: Record<string, DuchyRole>, config: object]>([
  ['share-shuffle', 'honestMajorityShareShuffle', SHUFFLE_ROLES, shuffle],
  ...(['reachOnlyLiquidLegionsV2', 'liquidLegionsV2'] as const).flatMap((protocol) =>
    [[ALPHA], [BETA, ALPHA], [DELTA, ALPHA, BETA]].map(
      (workers): [string, MpcProtocol, Record<string, DuchyRole>, object] => [
        `${protocol} with ${workers.length + 1} duchies`,
        protocol,
        roles(...workers),
        { workers, aggregator: GAMMA },
      ],
    ),
  ),
])('%s', (_what, protocol, roles, config) => {
  const steps = stepsOf({ [protocol]: config } as unknown as ProtocolConfig);

  /**
   * Simulates all duchies. In each round, every duchy takes at most one step in its stage table. Returns the duchies,
   * and the stages that sent a message, in the order in which they sent it.
   */
  function play(): { players: Player[]; worked: { duchy: string; stage: string }[] } {
    const players = Object.keys(roles).map((name) => new Player(name, protocol, roles, config));
    const worked: { duchy: string; stage: string }[] = [];
    const isPast = (stages: string[]) => players.every((player) => !stages.includes(player.stage));
    const state = () => {
      if (!isPast([firstStage(protocol)])) return 'PENDING_PARAMS';
      const confirming = ['WAIT_REQUISITIONS_AND_KEY_SET', 'CONFIRMATION_PHASE'];
      return isPast(confirming) ? 'COMPUTING' : 'PENDING_CONFIRMATION';
    };
    for (let round = 0; round < 100; round++) {
      for (const player of players) {
        const row = rowOf(player);
        if (row === undefined) continue;
        expect(row.waitsFor === undefined).toBe(row.run !== undefined);
        if (row.waitsFor !== undefined) {
          const { waitsFor } = row;
          const isThere =
            'state' in waitsFor
              ? state() === waitsFor.state
              : sendersOf(player, waitsFor.message).every((from) =>
                  player.inbox.has(`${waitsFor.message} ${from}`),
                );
          if (isThere) player.stage = row.next;
          continue;
        }
        if (row.sends !== undefined) {
          worked.push({ duchy: player.name, stage: player.stage });
          if (row.sends.to !== EXCHANGE) {
            const to = players.find(({ name }) => name === duchyAt(row.sends!.to as 'NEXT', player.view))!;
            expect(sendersOf(to, row.sends.message)).toContain(player.name);
            to.inbox.add(`${row.sends.message} ${player.name}`);
          }
        }
        player.stage = row.next;
      }
    }
    return { players, worked };
  }

  test('completes at every duchy, and the aggregator sends last', () => {
    const { players, worked } = play();
    expect(players.map(({ stage }) => stage)).toEqual(players.map(() => COMPLETE));
    expect(worked.at(-1)).toMatchObject({ duchy: GAMMA });
  });

  test('sends in the order of stepsOf', () => {
    const { worked } = play();
    const keys = (stages: { duchy: string; stage: string }[]) =>
      stages.map(({ duchy, stage }) => `${duchy} ${stage}`).sort();
    expect(keys(worked)).toEqual(keys(steps));
    const stepOf = (of: { duchy: string; stage: string }) =>
      steps.find(({ duchy, stage }) => duchy === of.duchy && stage === of.stage)!.step;
    const order = worked.map(stepOf);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  });
});

test('runAfter is null for waiting and complete stages, and rowOf rejects an unknown stage', () => {
  const protocol = 'honestMajorityShareShuffle';
  expect(runAfter({ protocol, role: 'FIRST_WORKER', stage: 'SETUP_PHASE' })).not.toBeNull();
  expect(runAfter({ protocol, role: 'FIRST_WORKER', stage: 'WAIT_TO_START' })).toBeNull();
  expect(runAfter({ protocol, role: 'FIRST_WORKER', stage: COMPLETE })).toBeNull();
  expect(() => rowOf({ protocol, role: 'AGGREGATOR', stage: 'SETUP_PHASE' })).toThrow(
    /^PROTOCOL_UNKNOWN at SETUP_PHASE/,
  );
});

test('sendersOf returns the duchies that send a message to this duchy', () => {
  const shuffling = (name: string, message: string) =>
    sendersOf(new Player(name, 'honestMajorityShareShuffle', SHUFFLE_ROLES, shuffle), message);
  expect(shuffling(BETA, 'SHUFFLE_PHASE_INPUT_ONE')).toEqual([ALPHA]);
  expect(shuffling(ALPHA, 'SHUFFLE_PHASE_INPUT_TWO')).toEqual([BETA]);
  expect(shuffling(GAMMA, 'AGGREGATION_PHASE_INPUT')).toEqual([ALPHA, BETA]);
  expect(shuffling(ALPHA, 'SHUFFLE_PHASE_INPUT_ONE')).toEqual([]);
  expect(shuffling(ALPHA, 'AGGREGATION_PHASE_INPUT')).toEqual([]);
  expect(shuffling(GAMMA, 'RESULT')).toEqual([]);
  const ring = { workers: [BETA, ALPHA], aggregator: GAMMA };
  const inRing = (name: string, message: string) =>
    sendersOf(new Player(name, 'reachOnlyLiquidLegionsV2', roles(BETA, ALPHA), ring), message);
  expect(inRing(GAMMA, 'SETUP_PHASE_INPUT')).toEqual([BETA, ALPHA]);
  expect(inRing(BETA, 'EXECUTION_PHASE_INPUT')).toEqual([GAMMA]);
  expect(inRing(ALPHA, 'EXECUTION_PHASE_INPUT')).toEqual([BETA]);
  expect(inRing(GAMMA, 'EXECUTION_PHASE_INPUT')).toEqual([ALPHA]);
  expect(inRing(ALPHA, 'SETUP_PHASE_INPUT')).toEqual([]);
});
