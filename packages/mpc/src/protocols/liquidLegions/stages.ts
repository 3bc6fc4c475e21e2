/**
 * The stages of a Liquid Legions protocol. The aggregator first collects all sketches. Then each round passes a message
 * once around the ring of duchies.
 */
import { COMPLETE, EXCHANGE, RESULT, type StageRow, type StageTable } from '../stages.ts';

const [W, AGG] = ['WORKER', 'AGGREGATOR'] as const;

/** Names of stages, and of the message that carries sketches (SKETCHES), in both Liquid Legions protocols. */
const KEYS = 'WAIT_REQUISITIONS_AND_KEY_SET';
const CONFIRM = 'CONFIRMATION_PHASE';
const START = 'WAIT_TO_START';
const WAIT_S = 'WAIT_SETUP_PHASE_INPUTS';
const SKETCHES = 'SETUP_PHASE_INPUT';

/**
 * One round of the ring is one stage. The workers run the `worker` function, and the aggregator runs the `aggregator`
 * function.
 */
export interface Round<Run extends string> {
  stage: string;
  worker: Run;
  aggregator: Run;
}

type Common = 'publishKey' | 'confirm' | 'setup' | 'combine';

export function ringStages<Run extends string>(rounds: readonly Round<Run>[]): StageTable<Common | Run> {
  const first = rounds[0]!.stage;
  // biome-ignore format: a table, one row per line
  return [
    { role: W,   stage: 'INITIALIZATION_PHASE', run: 'publishKey',                                                next: KEYS },
    { role: AGG, stage: 'INITIALIZATION_PHASE', run: 'publishKey',                                                next: KEYS },
    { role: W,   stage: KEYS,                   waitsFor: { state: 'PENDING_CONFIRMATION' },                      next: CONFIRM },
    { role: AGG, stage: KEYS,                   waitsFor: { state: 'PENDING_CONFIRMATION' },                      next: CONFIRM },
    { role: W,   stage: CONFIRM,                run: 'confirm',                                                   next: START },
    { role: AGG, stage: CONFIRM,                run: 'confirm',                                                   next: WAIT_S },
    { role: W,   stage: START,                  waitsFor: { state: 'COMPUTING' },                                 next: 'SETUP_PHASE' },
    { role: W,   stage: 'SETUP_PHASE',          run: 'setup',   sends: { message: SKETCHES, to: AGG },            next: waitFor(first) },
    { role: AGG, stage: WAIT_S,                 waitsFor: { message: SKETCHES, from: ['EVERY_WORKER'] },          next: 'SETUP_PHASE' },
    { role: AGG, stage: 'SETUP_PHASE',          run: 'combine', sends: { message: inputOf(first), to: 'NEXT' },   next: waitFor(first) },
    ...rounds.flatMap((round, i) => roundRows(round, rounds[i + 1]?.stage)),
  ];
}

/**
 * Returns a round's rows of the stage table. `following` is the next round's stage, or undefined for the last round,
 * which produces the result.
 */
function roundRows<Run extends string>(
  { stage, worker, aggregator }: Round<Run>,
  following: string | undefined,
): StageRow<Run>[] {
  const waitsFor = { message: inputOf(stage), from: ['PREVIOUS'] } as const;
  const next = following === undefined ? COMPLETE : waitFor(following);
  const output = following === undefined ? RESULT : inputOf(following);
  const to = following === undefined ? EXCHANGE : 'NEXT';
  // biome-ignore format: a table, one row per line
  return [
    { role: W,   stage: waitFor(stage), waitsFor,                                                     next: stage },
    { role: W,   stage,                 run: worker,     sends: { message: inputOf(stage), to: 'NEXT' }, next },
    { role: AGG, stage: waitFor(stage), waitsFor,                                                     next: stage },
    { role: AGG, stage,                 run: aggregator, sends: { message: output, to },              next },
  ];
}

function inputOf(stage: string): string {
  return `${stage}_INPUT`;
}

function waitFor(stage: string): string {
  return `WAIT_${stage}_INPUTS`;
}
