/** The stage table of Liquid Legions v2, which has three rounds. */
import { ringStages } from '../liquidLegions/stages.ts';

export const stages = ringStages([
  { stage: 'EXECUTION_PHASE_ONE', worker: 'blind', aggregator: 'group' },
  { stage: 'EXECUTION_PHASE_TWO', worker: 'decryptFlags', aggregator: 'countRegisters' },
  { stage: 'EXECUTION_PHASE_THREE', worker: 'decryptComparisons', aggregator: 'countFrequencies' },
]);
