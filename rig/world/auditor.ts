/** H4: the doctor checks the database about every second while the harness runs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { doctor } from '@measurement-exchange/exchange/maintenance';
import type { Violations } from '../harness.ts';
import type { Postgres } from './postgres.ts';

const PAUSE_MS = 1_000;
/**
 * If this many checks in a row fail, the failures are a violation. Fewer failures are normal, because the server needs
 * a moment to release its connections after a kill.
 */
const MAX_FAILURES = 3;

export class Auditor {
  runs = 0;
  private readonly postgres: Postgres;
  private readonly violations: Violations;
  /** Checks of the doctor that would report missing guards. The rig removed these guards for a planted bug. */
  private readonly ignored: readonly string[];
  private readonly stopping = new AbortController();
  private failures = 0;
  private looping: Promise<void> = Promise.resolve();

  constructor(postgres: Postgres, violations: Violations, ignored: readonly string[]) {
    this.postgres = postgres;
    this.violations = violations;
    this.ignored = ignored;
  }

  start(): void {
    this.looping = this.loop();
  }

  /** Stops after one last check. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.looping;
    await this.look();
  }

  private async loop(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const started = performance.now();
      await this.look();
      // The doctor reads whole tables, so it may use at most a quarter of the time.
      const pause = Math.max(PAUSE_MS, 3 * (performance.now() - started));
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  }

  private async look(): Promise<void> {
    const { crashes } = this.postgres;
    try {
      const ailments = await doctor({ connection: { connectionString: this.postgres.url } });
      this.runs++;
      this.failures = 0;
      for (const { check, severity, examples } of ailments) {
        if (severity !== 'error' || this.ignored.includes(check)) continue;
        this.violations.add(`doctor: ${check}: ${examples.join(', ')}`);
      }
    } catch (error) {
      // The database cannot be read while the server is down or starting.
      const disturbed = crashes !== this.postgres.crashes || this.postgres.isDown;
      this.failures = disturbed ? 0 : this.failures + 1;
      if (this.failures >= MAX_FAILURES) {
        this.violations.add(`doctor: could not look: ${(error as Error).message}`);
      }
    }
  }
}
