/**
 * Runs directResult.ts in a separate process. That script measures how fast a provider computes a direct result over
 * ten million impressions.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ratio } from './lib/figures.ts';
import type { Bench } from './lib/options.ts';
import { atMost, type Section } from './lib/report.ts';

/** The product may take at most this many times as long as a plain SQL aggregation of the same file. */
const MAXIMUM_RATIO = 3;

interface Result {
  name: string;
  against?: string;
  times: number[];
}

export async function direct({ rounds, quick }: Bench): Promise<Section> {
  const rows = quick ? '200000' : '10000000';
  const script = join(import.meta.dirname, 'directResult.ts');
  const child = spawn(process.execPath, [script, '--rows', rows, '--rounds', String(rounds)], {
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  // The script writes its results, and then exits with 0 if it met every target, or with 3 if it missed one.
  if (code !== 0 && code !== 3) throw new Error(`directResult.ts ended with ${code}.`);
  const data = JSON.parse(readFileSync(join(import.meta.dirname, 'results/directResult.json'), 'utf8'));
  const results: Result[] = data.results;
  const verdicts = results.flatMap(({ name, against, times }) => {
    const yardstick = results.find((other) => other.name === against);
    if (yardstick === undefined) return [];
    return [atMost(`${name}, of ${against}`, ratio(times, yardstick.times), MAXIMUM_RATIO)];
  });
  return { name: 'direct', data, verdicts };
}
