/** The stage table of Honest Majority Share Shuffle. */
import { COMPLETE, EXCHANGE, RESULT, type StageTable } from '../stages.ts';

const [W1, W2, AGG] = ['FIRST_WORKER', 'SECOND_WORKER', 'AGGREGATOR'] as const;

/** The messages between duchies. */
const SEEDS_1 = 'SHUFFLE_PHASE_INPUT_ONE';
const SEEDS_2 = 'SHUFFLE_PHASE_INPUT_TWO';
const SHARES = 'AGGREGATION_PHASE_INPUT';

/** The stages in which a duchy waits. */
const START = 'WAIT_TO_START';
const WAIT_1 = 'WAIT_ON_SHUFFLE_INPUT_PHASE_ONE';
const WAIT_2 = 'WAIT_ON_SHUFFLE_INPUT_PHASE_TWO';
const WAIT_A = 'WAIT_ON_AGGREGATION_INPUT';

const FIRST_STAGE = 'INITIALIZED';

// biome-ignore format: a table, one row per line
export const stages: StageTable<'publishKey' | 'setup' | 'shuffle' | 'aggregate'> = [
  { role: W1,  stage: FIRST_STAGE,         run: 'publishKey',                                         next: START },
  { role: W2,  stage: FIRST_STAGE,         run: 'publishKey',                                         next: WAIT_1 },
  { role: AGG, stage: FIRST_STAGE,         run: 'publishKey',                                         next: WAIT_A },
  { role: W1,  stage: START,               waitsFor: { state: 'COMPUTING' },                          next: 'SETUP_PHASE' },
  { role: W1,  stage: 'SETUP_PHASE',       run: 'setup',     sends: { message: SEEDS_1, to: W2 },     next: WAIT_2 },
  { role: W2,  stage: WAIT_1,              waitsFor: { message: SEEDS_1, from: [W1] },                next: 'SETUP_PHASE' },
  { role: W2,  stage: 'SETUP_PHASE',       run: 'setup',     sends: { message: SEEDS_2, to: W1 },     next: 'SHUFFLE_PHASE' },
  { role: W1,  stage: WAIT_2,              waitsFor: { message: SEEDS_2, from: [W2] },                next: 'SHUFFLE_PHASE' },
  { role: W1,  stage: 'SHUFFLE_PHASE',     run: 'shuffle',   sends: { message: SHARES, to: AGG },     next: COMPLETE },
  { role: W2,  stage: 'SHUFFLE_PHASE',     run: 'shuffle',   sends: { message: SHARES, to: AGG },     next: COMPLETE },
  { role: AGG, stage: WAIT_A,              waitsFor: { message: SHARES, from: [W1, W2] },             next: 'AGGREGATION_PHASE' },
  { role: AGG, stage: 'AGGREGATION_PHASE', run: 'aggregate', sends: { message: RESULT, to: EXCHANGE }, next: COMPLETE },
];
