/** The stages that the duchies run after the computation starts. Progress reports use the same stage names. */

import { ringOf } from './liquidLegionsConfig.ts';
import { liquidLegionsOf, type ProtocolConfig } from './protocolConfig.ts';

/** A stage that one duchy runs. The stage starts when all stages with a lower `step` are done. */
export interface ProtocolStep {
  step: number;
  duchy: string;
  stage: string;
}

/**
 * Returns the steps of a computation, or an empty array for a direct measurement. The last step computes the result.
 */
export function stepsOf(protocolConfig: ProtocolConfig): ProtocolStep[] {
  const { honestMajorityShareShuffle: shuffle } = protocolConfig;
  if (shuffle) {
    return [
      { step: 1, duchy: shuffle.firstWorker, stage: 'SETUP_PHASE' },
      { step: 2, duchy: shuffle.secondWorker, stage: 'SETUP_PHASE' },
      { step: 3, duchy: shuffle.firstWorker, stage: 'SHUFFLE_PHASE' },
      { step: 3, duchy: shuffle.secondWorker, stage: 'SHUFFLE_PHASE' },
      { step: 4, duchy: shuffle.aggregator, stage: 'AGGREGATION_PHASE' },
    ];
  }
  const legions = liquidLegionsOf(protocolConfig);
  if (legions === undefined) return [];
  const { workers, aggregator } = legions.config;
  const ring = ringOf(legions.config);
  return [
    ...workers.map((duchy) => ({ step: 1, duchy, stage: 'SETUP_PHASE' })),
    { step: 2, duchy: aggregator, stage: 'SETUP_PHASE' },
    ...EXECUTION[legions.protocol].flatMap((stage, round) =>
      ring.map((duchy, i) => ({ step: 3 + round * ring.length + i, duchy, stage })),
    ),
  ];
}

/** The stages after the setup phase. In each stage, all duchies of the ring run one after another. */
const EXECUTION = {
  reachOnlyLiquidLegionsV2: ['EXECUTION_PHASE'],
  liquidLegionsV2: ['EXECUTION_PHASE_ONE', 'EXECUTION_PHASE_TWO', 'EXECUTION_PHASE_THREE'],
};
