/** The common frame of the stages of both ring protocols. */
import type { LiquidLegionsProtocol } from '@measurement-exchange/contract';
import type { RingKeys, StageRun } from '@measurement-exchange/mpc/liquidLegions';
import { type Plan, planOf } from '../computations/plan.ts';
import { readSecrets } from '../database/index.ts';
import { computed, fromWorkers, ownSketches } from './legionsInput.ts';
import { ownKeys, stageSeed } from './legionsKeys.ts';
import type { StageFunction, Work } from './work.ts';

/** The first steps of both protocols. */
interface Setup {
  setup(
    sketches: readonly Uint8Array[],
    keys: RingKeys,
    seed: Uint8Array,
    run: StageRun,
  ): Promise<Uint8Array>;
  combine(
    messages: readonly Uint8Array[],
    keys: RingKeys,
    seed: Uint8Array,
    run: StageRun,
  ): Promise<Uint8Array>;
}

export interface Given<P extends LiquidLegionsProtocol, S extends Setup> extends Work {
  plan: Plan<P>;
  /** The computations of the protocol. */
  stages: S;
  keys: RingKeys;
  seed: Uint8Array;
}

/** Makes the stages of a protocol. */
export function legionsStages<P extends LiquidLegionsProtocol, S extends Setup>(
  protocol: P,
  stagesOf: (parameters: Plan<P>['parameters']) => S,
) {
  const stage =
    (compute: (given: Given<P, S>) => Promise<Uint8Array>): StageFunction =>
    async (work) => {
      const { duchy, computation } = work;
      const plan = planOf(protocol, computation);
      const stages = stagesOf(plan.parameters);
      const keys = await ownKeys(work);
      const seed = stageSeed(await readSecrets(duchy.db, computation.id), computation.stage);
      const position = { stage: computation.stage };
      return computed(position, () => compute({ ...work, plan, stages, keys, seed }));
    };
  return {
    stage,
    /** A worker combines the sketches that it received with noise. */
    setup: stage(async (given) =>
      given.stages.setup(await ownSketches(given), given.keys, given.seed, given),
    ),
    /** The aggregator combines the messages of all workers with noise of its own. */
    combine: stage(async (given) => {
      const messages = await fromWorkers(given, 'SETUP_PHASE_INPUT');
      const { stages, keys, seed, signal } = given;
      const noise = await stages.setup([], keys, seed, { signal });
      return stages.combine([...messages, noise], keys, seed, given);
    }),
  };
}
