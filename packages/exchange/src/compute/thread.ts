/** The entry point of the thread that `ComputeThread` starts. The thread runs jobs one at a time. */
import { parentPort } from 'node:worker_threads';
import { type Input, type JobName, jobs, type Output } from './jobs.ts';
import { stopwatch } from './stopwatch.ts';

export interface Task {
  job: JobName;
  input: Input<JobName>;
}

export interface Done {
  output?: Output<JobName>;
  error?: unknown;
  /** The job's CPU time in milliseconds. */
  ms: number;
}

parentPort?.on('message', ({ job, input }: Task) => {
  const elapsed = stopwatch();
  const done: Done = { ms: 0 };
  try {
    done.output = (jobs[job] as (input: Task['input']) => Output<JobName>)(input);
  } catch (error) {
    done.error = error;
  }
  done.ms = elapsed();
  parentPort!.postMessage(done);
});
parentPort?.postMessage('ready');
