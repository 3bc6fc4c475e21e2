/**
 * Keeps the outcome of each need (a value that a report requires): the measurement, its state, and the answer or the
 * reason why the answer is missing.
 */
import { isTerminal, type Measurement } from '@measurement-exchange/contract';
import type { Answer, Plan, PlannedNeed } from '@measurement-exchange/reports';
import { Fault } from '../../verification/fault.ts';
import type { Dependencies } from '../deps.ts';
import { failureOf } from '../wait.ts';
import { answerFor, openAnswers, requireAsked } from './answers.ts';

/** The state of a need, and the measurement that was made for it, if any. */
export interface NeedState {
  key: string;
  /** The resource name of the measurement. Absent if no measurement exists for the need. */
  measurement?: string;
  /**
   * The state of the measurement, or REJECTED (the result failed a check), NOT_DUE (the need's period or data is
   * incomplete), NOT_ASKED (nothing was created yet), or NOT_CREATED (the measurement could not be created).
   */
  state: string;
  /** The reason that there is no answer. */
  reason?: string;
}

/** Returns whether a need's measurement has ended without an answer that can be used. */
export function isLost({ state }: NeedState): boolean {
  return state === 'REJECTED' || (isTerminal(state as Measurement['state']) && state !== 'SUCCEEDED');
}

export class Outcomes {
  readonly answers = new Map<string, Answer>();
  private readonly deps: Dependencies;
  private readonly states: Map<string, NeedState>;

  constructor(deps: Dependencies, plan: Plan) {
    this.deps = deps;
    this.states = new Map(plan.needs.map(({ key }) => [key, { key, state: 'NOT_ASKED' }]));
  }

  of(key: string): NeedState {
    return this.states.get(key)!;
  }

  all(): NeedState[] {
    return [...this.states.values()];
  }

  set(needs: readonly PlannedNeed[], state: Omit<NeedState, 'key'>): void {
    for (const { key } of needs) this.states.set(key, { key, ...state });
  }

  /**
   * Sets the outcome of the needs to the measurement's state. If the measurement has succeeded, also verifies and
   * stores its answers. If an answer fails a check, the outcome is REJECTED instead.
   */
  async take(needs: readonly PlannedNeed[], measurement: Measurement): Promise<void> {
    const { state } = measurement;
    const about = { measurement: measurement.name!, state };
    if (state === 'SUCCEEDED') return this.open(needs, measurement);
    const reason = isTerminal(state) ? (await failureOf(this.waited, measurement)).message : undefined;
    this.set(needs, { ...about, ...(reason !== undefined && { reason }) });
  }

  private get waited() {
    const { client, signal } = this.deps;
    return { client, signal };
  }

  private async open(needs: readonly PlannedNeed[], measurement: Measurement): Promise<void> {
    const about = { measurement: measurement.name! };
    try {
      const answers = await openAnswers(this.deps, measurement);
      for (const planned of needs) {
        await requireAsked(this.deps, measurement, planned.need);
        this.answers.set(planned.key, answerFor(answers, planned.dataProviders)!);
      }
      this.set(needs, { ...about, state: 'SUCCEEDED' });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      for (const { key } of needs) this.answers.delete(key);
      this.set(needs, { ...about, state: 'REJECTED', reason: error.message });
    }
  }
}
