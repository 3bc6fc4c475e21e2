/** One process of `mex`, started the way an operator starts it, which can be killed and started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { MEX, SURROUNDINGS } from '@measurement-exchange/testkit/process';
import type { PlantedBug } from '../planted/plant.ts';

const HOOK = new URL('../planted/hook.ts', import.meta.url).href;
/** On two cores, with ten others that start, it may take long. */
const START_MS = 180_000;
const MAX_OUTPUT = 200_000;

const running = new Set<ChildProcess>();
// A rig that is stopped halfway leaves nothing.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface ProcessOptions {
  /** `an exchange`, for what is said about it. */
  what: string;
  planted: PlantedBug | undefined;
  /** It ended though nobody asked it to. */
  onCrash: (why: string) => void;
  onOutput: (text: string) => void;
}

export class MexProcess {
  private readonly options: ProcessOptions;
  private child: ChildProcess | undefined;
  private log = '';
  private isOver = false;
  /** By the clock of `performance`; undefined while it is down, or starting. */
  readySince: number | undefined;

  constructor(options: ProcessOptions) {
    this.options = options;
  }

  /**
   * Resolves when `ready`, which is asked again and again with the output so far, does to something. One that ends before
   * is started again, as a supervisor does: what it needs may be down.
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

  /** Once it is ready, it ends only when it is killed. */
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

  /** Resolves when it is gone. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const { child } = this;
    this.readySince = undefined;
    if (child === undefined) return;
    this.child = undefined;
    if (hasEnded(child)) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  /** For good. */
  async end(): Promise<void> {
    this.isOver = true;
    await this.kill('SIGKILL');
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
