/** Liquid Legions v2, stage by stage: three rounds. */
import { ringStages } from '../liquidLegions/stages.ts';

export const stages = ringStages([
  { stage: 'EXECUTION_PHASE_ONE', worker: 'blind', aggregator: 'group' },
  { stage: 'EXECUTION_PHASE_TWO', worker: 'decryptFlags', aggregator: 'countRegisters' },
  { stage: 'EXECUTION_PHASE_THREE', worker: 'decryptComparisons', aggregator: 'countFrequencies' },
]);
