/** Liquid Legions v2, stage by stage: sketches meet at the aggregator, and three rounds pass around the ring. */
import { COMPLETE, EXCHANGE, type ProtocolTable } from './table.ts';

const [W, AGG] = ['WORKER', 'AGGREGATOR'] as const;

/** Messages between duchies. */
const SKETCHES = 'SETUP_PHASE_INPUT';
const REGISTERS = 'EXECUTION_PHASE_ONE_INPUT';
const TUPLES = 'EXECUTION_PHASE_TWO_INPUT';
const COMPARED = 'EXECUTION_PHASE_THREE_INPUT';
const RESULT = 'RESULT';

/** Stages that wait. */
const KEYS = 'WAIT_REQUISITIONS_AND_KEY_SET';
const START = 'WAIT_TO_START';
const WAIT_S = 'WAIT_SETUP_PHASE_INPUTS';
const WAIT_1 = 'WAIT_EXECUTION_PHASE_ONE_INPUTS';
const WAIT_2 = 'WAIT_EXECUTION_PHASE_TWO_INPUTS';
const WAIT_3 = 'WAIT_EXECUTION_PHASE_THREE_INPUTS';

// biome-ignore format: a table, one row per line
export const LIQUID_LEGIONS = [
  { role: W,   stage: 'INITIALIZATION_PHASE',  run: 'publishKey',                                                   next: KEYS },
  { role: AGG, stage: 'INITIALIZATION_PHASE',  run: 'publishKey',                                                   next: KEYS },
  { role: W,   stage: KEYS,                    waitsFor: { state: 'PENDING_CONFIRMATION' },                         next: 'CONFIRMATION_PHASE' },
  { role: AGG, stage: KEYS,                    waitsFor: { state: 'PENDING_CONFIRMATION' },                         next: 'CONFIRMATION_PHASE' },
  { role: W,   stage: 'CONFIRMATION_PHASE',    run: 'confirm',                                                      next: START },
  { role: AGG, stage: 'CONFIRMATION_PHASE',    run: 'confirm',                                                      next: WAIT_S },
  { role: W,   stage: START,                   waitsFor: { state: 'COMPUTING' },                                    next: 'SETUP_PHASE' },
  { role: W,   stage: 'SETUP_PHASE',           run: 'setup',              sends: { message: SKETCHES, to: AGG },     next: WAIT_1 },
  { role: AGG, stage: WAIT_S,                  waitsFor: { message: SKETCHES, from: ['EVERY_WORKER'] },             next: 'SETUP_PHASE' },
  { role: AGG, stage: 'SETUP_PHASE',           run: 'combine',            sends: { message: REGISTERS, to: 'NEXT' }, next: WAIT_1 },
  { role: W,   stage: WAIT_1,                  waitsFor: { message: REGISTERS, from: ['PREVIOUS'] },                next: 'EXECUTION_PHASE_ONE' },
  { role: W,   stage: 'EXECUTION_PHASE_ONE',   run: 'blind',              sends: { message: REGISTERS, to: 'NEXT' }, next: WAIT_2 },
  { role: AGG, stage: WAIT_1,                  waitsFor: { message: REGISTERS, from: ['PREVIOUS'] },                next: 'EXECUTION_PHASE_ONE' },
  { role: AGG, stage: 'EXECUTION_PHASE_ONE',   run: 'group',              sends: { message: TUPLES, to: 'NEXT' },    next: WAIT_2 },
  { role: W,   stage: WAIT_2,                  waitsFor: { message: TUPLES, from: ['PREVIOUS'] },                   next: 'EXECUTION_PHASE_TWO' },
  { role: W,   stage: 'EXECUTION_PHASE_TWO',   run: 'decryptFlags',       sends: { message: TUPLES, to: 'NEXT' },    next: WAIT_3 },
  { role: AGG, stage: WAIT_2,                  waitsFor: { message: TUPLES, from: ['PREVIOUS'] },                   next: 'EXECUTION_PHASE_TWO' },
  { role: AGG, stage: 'EXECUTION_PHASE_TWO',   run: 'countRegisters',     sends: { message: COMPARED, to: 'NEXT' },  next: WAIT_3 },
  { role: W,   stage: WAIT_3,                  waitsFor: { message: COMPARED, from: ['PREVIOUS'] },                 next: 'EXECUTION_PHASE_THREE' },
  { role: W,   stage: 'EXECUTION_PHASE_THREE', run: 'decryptComparisons', sends: { message: COMPARED, to: 'NEXT' },  next: COMPLETE },
  { role: AGG, stage: WAIT_3,                  waitsFor: { message: COMPARED, from: ['PREVIOUS'] },                 next: 'EXECUTION_PHASE_THREE' },
  { role: AGG, stage: 'EXECUTION_PHASE_THREE', run: 'countFrequencies',   sends: { message: RESULT, to: EXCHANGE },  next: COMPLETE },
] as const satisfies ProtocolTable;
