/** Text about the stages of a computation. */

interface StageWords {
  stage: string;
  /** Says what a duchy does in this stage, such as `shuffling`. Sentences put `is` or `while` before this text. */
  doing: string;
  /** Says what a duchy did in this stage, such as `shuffled`. */
  done: string;
}

const STAGES: Record<string, StageWords> = {
  INITIALIZED: { stage: 'Keys', doing: 'making keys', done: 'made keys' },
  INITIALIZATION_PHASE: { stage: 'Keys', doing: 'making keys', done: 'made keys' },
  CONFIRMATION_PHASE: { stage: 'Check', doing: 'checking the data', done: 'received all data' },
  SETUP_PHASE: { stage: 'Set up', doing: 'setting up', done: 'set up' },
  SHUFFLE_PHASE: { stage: 'Shuffle, add noise', doing: 'shuffling', done: 'shuffled' },
  AGGREGATION_PHASE: { stage: 'Count', doing: 'counting', done: 'counted' },
  EXECUTION_PHASE: { stage: 'Combine, decrypt', doing: 'combining', done: 'combined' },
  EXECUTION_PHASE_ONE: { stage: 'Round 1', doing: 'computing round 1', done: 'computed round 1' },
  EXECUTION_PHASE_TWO: { stage: 'Round 2', doing: 'computing round 2', done: 'computed round 2' },
  EXECUTION_PHASE_THREE: { stage: 'Round 3', doing: 'computing round 3', done: 'computed round 3' },
};

export function stageWords(stage: string): StageWords {
  return STAGES[stage] ?? { stage, doing: `in ${stage}`, done: `finished ${stage}` };
}
