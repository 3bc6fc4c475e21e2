/**
 * Tests random filters that try to use much time or memory. Each must be rejected, stopped or evaluated with at most
 * 320 MB. The limit of processor time allows for two attempts of half a second each and for three starts of a process.
 * Set FC_SEED to test other filters.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Events, FilterError, openEvents, QueryStopped } from '../../src/provider/index.ts';
import { type EventFiles, eventFiles } from './eventFiles.ts';
import { HOSTILE_FILTER } from './hostileFilters.ts';

const RUNS = rounds(1500, 40);
/** The CPU time limit for one attempt to evaluate a filter. The agent makes at most two attempts per request. */
const REQUEST_MS = 500;
/**
 * The maximum memory of the evaluating process. The process exits above 200 MB, but it checks its memory only from time
 * to time.
 */
const MAX_MB = 320;

let files: EventFiles;
let events: Events;
beforeAll(async () => {
  files = await eventFiles();
  const file = await files.write(
    'hostile.parquet',
    `SELECT range AS vid, TIMESTAMP '2024-01-01' AS timestamp, 'g' AS event_group,
       repeat('ab', (range % 50)::INTEGER) AS s, chr((97 + range % 26)::INTEGER) AS t, range AS i, range / 7 AS d,
       range % 2 = 0 AS b, TIMESTAMP '2024-01-01' + INTERVAL (range) HOUR AS at FROM range(60)`,
  );
  events = await openEvents({ files: file, threads: 1 });
});
afterAll(async () => {
  await events?.close();
  await files?.remove();
});

const QUERY = {
  eventGroups: [{ reference: 'g', interval: { start: new Date('2024-01-01'), end: new Date('2024-01-02') } }],
  vidSampling: { start: 0, width: 1 },
};
const count = (filter: string) =>
  events.impressions({ ...QUERY, eventGroups: [{ ...QUERY.eventGroups[0]!, filter }] }, 1);

/** Returns the IDs of this process's child processes. The child processes evaluate the filters. */
function children(): string[] {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === process.pid);
}
const parentOf = (pid: string) => Number(/\) \S (\d+)/.exec(read(`/proc/${pid}/stat`))?.[1]);

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Ignore the error, because the process may have ended.
    return '';
  }
}

/** Returns the processor time of this process and all its children, including ended ones. */
function cpuMs(): number {
  const ticksOf = (pid: string, fields: number) =>
    read(`/proc/${pid}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ')
      .slice(11, 11 + fields)
      .reduce((sum, ticks) => sum + Number(ticks), 0);
  return 10 * [...children().map((pid) => ticksOf(pid, 2)), ticksOf('self', 4)].reduce((a, b) => a + b);
}

/** Returns the peak memory of a process, in MB, since the last call of `forget`. */
const peakMb = (pid: string) => Number(/VmHWM:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;

/**
 * Returns the processor time that a new process needs to start and to do its first count: the longest of three tries.
 * The time depends on this machine's speed.
 */
async function startMs(): Promise<number> {
  let most = 0;
  for (let k = 0; k < 3; k++) {
    const before = cpuMs();
    await count('i > 1');
    most = Math.max(most, cpuMs() - before);
    for (const pid of children()) process.kill(Number(pid), 'SIGKILL');
    await expect.poll(children).toEqual([]);
  }
  return most;
}

function forget(pid: string): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Ignore the error, because the process may have ended.
  }
}

it.runIf(process.platform === 'linux')(
  `${RUNS} hostile filters use at most the CPU time of two attempts and ${MAX_MB} MB each`,
  async () => {
    const outcomes = { counted: 0, refused: 0, stopped: 0 };
    const most = { ms: 0, megabytes: 0, grownMegabytes: 0 };
    const maxMs = 2 * REQUEST_MS + 3 * (await startMs());
    await fc.assert(
      fc.asyncProperty(HOSTILE_FILTER, async (filter) => {
        let megabytes = 0;
        const look = () => {
          megabytes = Math.max(megabytes, ...children().map(peakMb));
        };
        for (const pid of [...children(), 'self']) forget(pid);
        const before = { ms: cpuMs(), megabytes: peakMb('self') };
        const timer = setInterval(look, 50);
        const outcome = await count(filter).then(
          () => 'counted' as const,
          (error) => {
            if (error instanceof FilterError) return 'refused' as const;
            if (error instanceof QueryStopped) return 'stopped' as const;
            throw error;
          },
        );
        clearInterval(timer);
        look();
        const [ms, grownMegabytes] = [cpuMs() - before.ms, peakMb('self') - before.megabytes];
        outcomes[outcome]++;
        most.ms = Math.max(most.ms, ms);
        most.megabytes = Math.max(most.megabytes, megabytes);
        most.grownMegabytes = Math.max(most.grownMegabytes, grownMegabytes);
        if (isStress && (ms > 900 || megabytes > 200 || outcome === 'stopped')) {
          console.log(outcome, ms, 'ms', Math.round(megabytes), 'MB', filter.length, filter.slice(0, 200));
        }
        expect(ms, filter).toBeLessThanOrEqual(maxMs);
        expect(Math.max(megabytes, grownMegabytes), filter).toBeLessThanOrEqual(MAX_MB);
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
    console.log(`${RUNS} hostile filters:`, outcomes, most, `of at most ${maxMs} ms`);
    expect(outcomes.refused).toBeGreaterThan(RUNS / 20);
    expect(outcomes.counted).toBeGreaterThan(RUNS / 20);
  },
  Math.max(180_000, RUNS * 500),
);
