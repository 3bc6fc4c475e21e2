/** The stage table of reach-only Liquid Legions v2, which has one round. */
import { ringStages } from '../liquidLegions/stages.ts';

export const stages = ringStages([{ stage: 'EXECUTION_PHASE', worker: 'execute', aggregator: 'count' }]);
