/** Exact distributions of noise, as arrays of probabilities. The middle entry of each array is the probability of 0. */
import type { MpcNoise } from '../src/index.ts';

const ratioOf = (noise: MpcNoise) => Math.exp(-1 / (noise as Extract<MpcNoise, { scale: number }>).scale);

/** The distribution of one worker's noise, truncated to the values from −`reach` to `reach`. */
export function workerPart(noise: MpcNoise, reach: number): number[] {
  if (noise.mechanism === 'DISCRETE_GAUSSIAN') {
    const weights = Array.from({ length: 2 * reach + 1 }, (_, i) =>
      Math.exp(-(((i - reach) / noise.workerSigma) ** 2) / 2),
    );
    return normalized(weights);
  }
  const ratio = ratioOf(noise);
  const polya = [1];
  for (let k = 0; k < reach; k++) polya.push((polya[k]! * ratio * (k + 0.5)) / (k + 1));
  return convolved(normalized(polya), normalized(polya).reverse());
}

/** The distribution of the sum of two workers' noise without truncation, for the sums from −`reach` to `reach`. */
function uncut(noise: MpcNoise, reach: number): number[] {
  if (noise.mechanism === 'DISCRETE_GAUSSIAN') {
    const far = reach + 20;
    const sum = convolved(workerPart(noise, far), workerPart(noise, far));
    return sum.slice(2 * far - reach, 2 * far + reach + 1);
  }
  const ratio = ratioOf(noise);
  return Array.from(
    { length: 2 * reach + 1 },
    (_, i) => ((1 - ratio) / (1 + ratio)) * ratio ** Math.abs(i - reach),
  );
}

/**
 * Returns the probabilities of each result for two counts that differ by one. Truncation multiplies each probability by
 * a factor, which differs between the two counts. `left` uses the smaller factor for both counts. `lost` is the total
 * probability that the smaller factor removes for the first count.
 */
export function neighbors(noise: MpcNoise): { left: [number, number][]; lost: number } {
  const cut = workerPart(noise, noise.offset);
  const sum = [0, ...convolved(cut, cut), 0];
  const whole = uncut(noise, (sum.length - 1) / 2);
  const kept = sum.map((p, i) => p / whole[i]!);
  const left: [number, number][] = [];
  let lost = 0;
  for (let i = 1; i < sum.length; i++) {
    const both = Math.min(kept[i]!, kept[i - 1]!);
    left.push([whole[i]! * both, whole[i - 1]! * both]);
    lost += whole[i]! * (kept[i]! - both);
  }
  return { left, lost };
}

export function divergence(pairs: [number, number][], order: number): number {
  const [ofP, ofQ] = [0, 1].map((side) => pairs.reduce((sum, pair) => sum + pair[side]!, 0));
  let sum = 0;
  for (const [p, q] of pairs)
    if (p > 0) sum += (p / ofP!) * Math.exp((order - 1) * Math.log(p / ofP! / (q / ofQ!)));
  return Math.log(sum) / (order - 1);
}

function normalized(weights: number[]): number[] {
  const total = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / total);
}

export function convolved(a: number[], b: number[]): number[] {
  const sums = new Array<number>(a.length + b.length - 1).fill(0);
  for (let i = 0; i < a.length; i++) for (let j = 0; j < b.length; j++) sums[i + j]! += a[i]! * b[j]!;
  return sums;
}

/**
 * The distribution of the aggregator's noise, from −`reach` to `reach`. The noise is not truncated, so `reach` must be
 * large.
 */
export function aggregatorPart(noise: MpcNoise, reach: number): number[] {
  if (noise.mechanism === 'NONE') throw new RangeError('there is no noise');
  return normalized(
    Array.from({ length: 2 * reach + 1 }, (_, i) =>
      noise.mechanism === 'DISCRETE_GAUSSIAN'
        ? Math.exp(-(((i - reach) / noise.sigma) ** 2) / 2)
        : Math.exp(-Math.abs(i - reach) / noise.scale),
    ),
  );
}

/** The probabilities of each result, up to `reach` away from the middle, for two counts that differ by one. */
export function shiftedPairs(distribution: number[], reach: number): [number, number][] {
  const middle = (distribution.length - 1) / 2;
  return Array.from({ length: 2 * reach + 1 }, (_, i) => {
    const at = middle - reach + i;
    return [distribution[at]!, distribution[at - 1]!];
  });
}
