/** Reach-only Liquid Legions v2, stage by stage: one round. */
import { ringStages } from '../liquidLegions/stages.ts';

export const stages = ringStages([{ stage: 'EXECUTION_PHASE', worker: 'execute', aggregator: 'count' }]);
