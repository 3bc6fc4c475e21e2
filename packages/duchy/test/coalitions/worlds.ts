/**
 * Two worlds that differ in one person, and an adversary that takes part in many runs of each. What it sees in a run it puts
 * into one number, its score. Its advantage is the largest difference between the worlds in how often the score is at most
 * some threshold (the distance of Kolmogorov and Smirnov): 1 where a run tells the world for certain, 0 where runs tell
 * nothing. Seeds are fixed in tests, so that a test finds the same each time.
 */

import type { Charge } from '@measurement-exchange/sdk';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { expect } from 'vitest';

/** Runs of each world. */
export const RUNS = rounds(2000);
/** How often an advantage that is not above what is promised would be called an attack. */
const FALSE_ALARM = 1e-6;

export type WorldNumber = 0 | 1;

export interface Comparison {
  advantage: number;
  runs: number;
}

/** Of each world, what was to be seen in its runs. */
export type Views<V> = [V[], V[]];

/** Plays `runs` runs of each world, of which several adversaries may see something. */
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

/** By what an adversary makes of each view, which must be finite. */
export function compareViews<V>(views: Views<V>, scoreOf: (view: V) => number): Comparison {
  const [one, other] = [views[0].map(scoreOf), views[1].map(scoreOf)];
  if (![...one, ...other].every(Number.isFinite)) throw new RangeError('a score is not a finite number');
  return { advantage: advantageOf(one, other), runs: one.length };
}

/** The same where one adversary sees the runs. */
export async function compareWorlds(
  scoreOf: (world: WorldNumber, run: number) => number | Promise<number>,
  runs = RUNS,
): Promise<Comparison> {
  return compareViews(await playWorlds(scoreOf, runs), (score) => score);
}

/** The largest difference, over all thresholds, of how often a score is at most that. */
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
 * The most that an adversary may tell two neighbors apart who were charged this much: the total variation of any two
 * distributions that fulfill (ε, δ), or that have a Kullback–Leibler divergence of at most rho (Pinsker).
 */
export function promisedAdvantage(charge: Charge): number {
  const { delta = 0 } = charge;
  return ('rho' in charge ? Math.sqrt(charge.rho / 2) : Math.tanh(charge.epsilon / 2)) + delta;
}

/**
 * How much of an advantage may be chance (Dvoretzky, Kiefer and Wolfowitz for two samples, with the constant of Wei and Dudley
 * 2012): 0.27 with 200 runs of each world, 0.085 with 2,000.
 */
export function chance(runs: number): number {
  return Math.sqrt(Math.log(2.17 / FALSE_ALARM) / runs);
}

/**
 * The adversary tells the worlds apart no better than is promised. With 200 runs an attack whose advantage is 0.45 above the
 * promise is found in 99 of 100 cases; worlds.test.ts holds this.
 */
export function expectHidden({ advantage, runs }: Comparison, promised: number): void {
  expect(advantage).toBeLessThanOrEqual(promised + chance(runs));
}
