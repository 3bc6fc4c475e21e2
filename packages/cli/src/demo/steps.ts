/** Prints the demo's steps with their times, and the current stage of long steps. */
import type { Progress } from '@measurement-exchange/sdk';
import { note } from '../terminal/output.ts';
import { startLive } from '../terminal/progress.ts';
import { shortName } from './figures.ts';

export interface Steps extends Disposable {
  start(label: string): Step;
}

export interface Step {
  /** Shows the step's current stage until the step is done. */
  at(stage: string): void;
  /** Ends the step. Prints `text`, the time since the demo started, and the time that the step took. */
  done(text: string): void;
}

export function startSteps(): Steps {
  const live = startLive('The demo runs.', 'Ctrl-C ends it.');
  const startedAt = performance.now();
  const secondsSince = (time: number) => `${((performance.now() - time) / 1000).toFixed(1)} s`;
  const stages = new Map<string, string>();
  return {
    start(label) {
      const stepStartedAt = performance.now();
      return {
        at(stage) {
          stages.set(label, `${stage}, since ${secondsSince(startedAt)}`);
          live.show(new Map(stages));
        },
        done(text) {
          stages.delete(label);
          live.show(new Map(stages));
          note(`${secondsSince(startedAt).padStart(7)}  ${text} (${secondsSince(stepStartedAt)})`);
        },
      };
    },
    [Symbol.dispose]: live.end,
  };
}

/** Describes a measurement's progress: the number of providers that answered, or the latest report from a duchy. */
export function stageOf({ measurement, requisitions, reports }: Progress): string {
  if (measurement.state === 'COMPUTING') {
    const [last] = reports.toSorted((a, b) => Date.parse(b.time) - Date.parse(a.time));
    if (last === undefined) return 'duchies compute';
    const { duchy, stage, progress = 0 } = last;
    const part = progress === 1 ? `did ${stage}` : `at ${stage} ${Math.round(progress * 100)} %`;
    return `${shortName(duchy)} ${part}`;
  }
  if (measurement.state === 'SUCCEEDED') return 'result is there';
  const answered = requisitions.filter(({ state }) => state !== 'UNFULFILLED').length;
  return `${answered} of ${requisitions.length} providers answered`;
}
