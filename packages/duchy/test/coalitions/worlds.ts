/**
 * Compares runs in two test worlds, whose data differs only in one person. An adversary takes part in many runs in each
 * world and computes a score from what it sees in a run. The adversary's advantage is the Kolmogorov–Smirnov distance:
 * the largest difference between the worlds in the probability that the score is at most some threshold. The advantage
 * is 1 if every run reveals the world, and 0 if runs reveal nothing. Tests use fixed seeds, so each test gets the same
 * outcome every time.
 */

import type { Charge } from '@measurement-exchange/sdk';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { expect } from 'vitest';

/** The number of runs of each world. */
export const RUNS = rounds(2000);
/** The maximum probability that a test mistakes a permitted advantage for an attack. */
const FALSE_ALARM = 1e-6;

export type WorldNumber = 0 | 1;

export interface Comparison {
  advantage: number;
  runs: number;
}

/** The adversary's views of the runs, for each world. */
export type Views<V> = [V[], V[]];

/** Plays `runs` runs of each world and returns the views, which several adversaries may then score. */
export async function playWorlds<V>(
  play: (world: WorldNumber, run: number) => V | Promise<V>,
  runs = RUNS,
): Promise<Views<V>> {
  const views: Views<V> = [[], []];
  for (let run = 0; run < runs; run++) {
    for (const world of [0, 1] as const) views[world].push(await play(world, run));
  }
  return views;
}

/** Compares the worlds by the score of each view. Scores must be finite. */
export function compareViews<V>(views: Views<V>, scoreOf: (view: V) => number): Comparison {
  const [one, other] = [views[0].map(scoreOf), views[1].map(scoreOf)];
  if (![...one, ...other].every(Number.isFinite)) throw new RangeError('a score is not a finite number');
  return { advantage: advantageOf(one, other), runs: one.length };
}

/** Plays the runs and compares the worlds by the scores of one adversary. */
export async function compareWorlds(
  scoreOf: (world: WorldNumber, run: number) => number | Promise<number>,
  runs = RUNS,
): Promise<Comparison> {
  return compareViews(await playWorlds(scoreOf, runs), (score) => score);
}

/**
 * Compares the fraction of scores up to a threshold in the two worlds. Returns the largest difference over all
 * thresholds.
 */
export function advantageOf(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [[...one].sort((x, y) => x - y), [...other].sort((x, y) => x - y)];
  let largest = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const threshold = Math.min(a[i]!, b[j]!);
    while (i < a.length && a[i] === threshold) i++;
    while (j < b.length && b[j] === threshold) j++;
    largest = Math.max(largest, Math.abs(i / a.length - j / b.length));
  }
  return largest;
}

/**
 * Returns the largest advantage that is compatible with this charge. This advantage is a bound on the total variation
 * distance between two distributions. For a charge with epsilon, the distributions satisfy (ε, δ)-differential privacy.
 * For a charge with rho, their Kullback–Leibler divergence is at most rho (Pinsker's inequality), and delta is added.
 */
export function promisedAdvantage(charge: Charge): number {
  const { delta = 0 } = charge;
  return ('rho' in charge ? Math.sqrt(charge.rho / 2) : Math.tanh(charge.epsilon / 2)) + delta;
}

/**
 * Returns the largest advantage that chance can explain (Dvoretzky, Kiefer and Wolfowitz for two samples, with the
 * constant of Wei and Dudley 2012): 0.27 with 200 runs of each world, 0.085 with 2,000.
 */
export function chance(runs: number): number {
  return Math.sqrt(Math.log(2.17 / FALSE_ALARM) / runs);
}

/**
 * Expects that the adversary's advantage exceeds the promised advantage by no more than chance can explain. With 200
 * runs, this check detects an advantage of 0.45 above the promise in 99 of 100 cases. worlds.test.ts tests this rate.
 */
export function expectHidden({ advantage, runs }: Comparison, promised: number): void {
  expect(advantage).toBeLessThanOrEqual(promised + chance(runs));
}
