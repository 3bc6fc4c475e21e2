/** Reach-only Liquid Legions v2, stage by stage: sketches meet at the aggregator, and pass once around the ring. */
import { COMPLETE, EXCHANGE, type ProtocolTable } from './table.ts';

const [W, AGG] = ['WORKER', 'AGGREGATOR'] as const;

/** Messages between duchies. */
const SKETCHES = 'SETUP_PHASE_INPUT';
const REGISTERS = 'EXECUTION_PHASE_INPUT';
const RESULT = 'RESULT';

/** Stages that wait. */
const KEYS = 'WAIT_REQUISITIONS_AND_KEY_SET';
const START = 'WAIT_TO_START';
const WAIT_S = 'WAIT_SETUP_PHASE_INPUTS';
const WAIT_R = 'WAIT_EXECUTION_PHASE_INPUTS';

// biome-ignore format: a table, one row per line
export const REACH_ONLY_LIQUID_LEGIONS = [
  { role: W,   stage: 'INITIALIZATION_PHASE', run: 'publishKey',                                             next: KEYS },
  { role: AGG, stage: 'INITIALIZATION_PHASE', run: 'publishKey',                                             next: KEYS },
  { role: W,   stage: KEYS,                   waitsFor: { state: 'PENDING_CONFIRMATION' },                   next: 'CONFIRMATION_PHASE' },
  { role: AGG, stage: KEYS,                   waitsFor: { state: 'PENDING_CONFIRMATION' },                   next: 'CONFIRMATION_PHASE' },
  { role: W,   stage: 'CONFIRMATION_PHASE',   run: 'confirm',                                                next: START },
  { role: AGG, stage: 'CONFIRMATION_PHASE',   run: 'confirm',                                                next: WAIT_S },
  { role: W,   stage: START,                  waitsFor: { state: 'COMPUTING' },                              next: 'SETUP_PHASE' },
  { role: W,   stage: 'SETUP_PHASE',          run: 'setup',   sends: { message: SKETCHES, to: AGG },         next: WAIT_R },
  { role: AGG, stage: WAIT_S,                 waitsFor: { message: SKETCHES, from: ['EVERY_WORKER'] },       next: 'SETUP_PHASE' },
  { role: AGG, stage: 'SETUP_PHASE',          run: 'combine', sends: { message: REGISTERS, to: 'NEXT' },     next: WAIT_R },
  { role: W,   stage: WAIT_R,                 waitsFor: { message: REGISTERS, from: ['PREVIOUS'] },          next: 'EXECUTION_PHASE' },
  { role: W,   stage: 'EXECUTION_PHASE',      run: 'execute', sends: { message: REGISTERS, to: 'NEXT' },     next: COMPLETE },
  { role: AGG, stage: WAIT_R,                 waitsFor: { message: REGISTERS, from: ['PREVIOUS'] },          next: 'EXECUTION_PHASE' },
  { role: AGG, stage: 'EXECUTION_PHASE',      run: 'count',   sends: { message: RESULT, to: EXCHANGE },      next: COMPLETE },
] as const satisfies ProtocolTable;
