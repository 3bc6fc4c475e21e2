/** A `mex` process that is started as an operator would start it, and can be killed and started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { MEX, SURROUNDINGS } from '@measurement-exchange/testkit/process';
import type { PlantedBug } from '../planted/plant.ts';

const HOOK = new URL('../planted/hook.ts', import.meta.url).href;
/** The maximum time for a start. A start on two cores takes long if ten other processes start at the same time. */
const START_MS = 180_000;
const MAX_OUTPUT = 200_000;

const running = new Set<ChildProcess>();
// Ends the child processes even if the rig is stopped early.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface ProcessOptions {
  /** A name for messages, for example `an exchange`. */
  what: string;
  planted: PlantedBug | undefined;
  /** Called if the process ends although the rig did not kill it. */
  onCrash: (why: string) => void;
  onOutput: (text: string) => void;
}

export class MexProcess {
  private readonly options: ProcessOptions;
  private child: ChildProcess | undefined;
  private log = '';
  private isOver = false;
  /**
   * The time of the last successful start on the clock of `performance`. Undefined while the process is down or
   * starting.
   */
  readySince: number | undefined;

  constructor(options: ProcessOptions) {
    this.options = options;
  }

  /**
   * Starts the process, and resolves when `ready` returns a value. `ready` is called repeatedly with the output so far.
   * If the process ends earlier, it is started again, as a supervisor would do, because a service that it needs may be
   * down.
   */
  async start<T>(
    args: string[],
    env: Record<string, string>,
    ready: (output: string) => Promise<T | undefined>,
  ): Promise<T> {
    let child: ChildProcess | undefined;
    for (const deadline = Date.now() + START_MS; Date.now() < deadline && !this.isOver; await sleep(25)) {
      if (child === undefined || hasEnded(child)) child = this.launch(args, env);
      const found = await ready(this.log);
      if (found === undefined || hasEnded(child)) continue;
      this.watch(child);
      this.readySince = performance.now();
      return found;
    }
    throw new Error(`${this.options.what} did not start:\n${this.log}`);
  }

  private launch(args: string[], env: Record<string, string>): ChildProcess {
    const { planted, onOutput } = this.options;
    const child = spawn(process.execPath, [...(planted ? ['--import', HOOK] : []), MEX, ...args], {
      env: { ...SURROUNDINGS, ...env, ...(planted && { MEX_TEST_PLANTED_BUG: planted.name }) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    this.child = child;
    this.log = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        this.log = (this.log + chunk).slice(-MAX_OUTPUT);
        onOutput(String(chunk));
      });
    }
    return child;
  }

  /** Reports a crash if a ready process ends although the rig did not kill it. */
  private watch(child: ChildProcess): void {
    const { what, onCrash } = this.options;
    child.once('exit', (code, signal) => {
      if (this.child === child)
        onCrash(`${what} ended by itself (${signal ?? code}): ${this.log.slice(-500)}`);
    });
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  get output(): string {
    return this.log;
  }

  /** Kills the process, and resolves when the process has ended. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const { child } = this;
    this.readySince = undefined;
    if (child === undefined) return;
    this.child = undefined;
    if (hasEnded(child)) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  /** Ends the process, which is not started again. */
  async end(): Promise<void> {
    this.isOver = true;
    await this.kill('SIGKILL');
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
