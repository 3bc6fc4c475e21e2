/** H4: the doctor checks the database every second while everything else runs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { doctor } from '@measurement-exchange/exchange/maintenance';
import type { Violations } from '../harness.ts';
import type { Postgres } from './postgres.ts';

const PAUSE_MS = 1_000;
/** In a row. The server lets go of its connections a moment after a kill. */
const MAX_FAILURES = 3;

export class Auditor {
  runs = 0;
  private readonly postgres: Postgres;
  private readonly violations: Violations;
  /** Checks that tell of what the rig itself took out of its database. */
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

  /** After the last look. */
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
      // It reads whole tables: of a long run it may take a quarter at most.
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
      // Nothing can be seen while the server is down, or starting again.
      const disturbed = crashes !== this.postgres.crashes || this.postgres.isDown;
      this.failures = disturbed ? 0 : this.failures + 1;
      if (this.failures >= MAX_FAILURES) {
        this.violations.add(`doctor: could not look: ${(error as Error).message}`);
      }
    }
  }
}
