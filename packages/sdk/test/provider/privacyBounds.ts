/** Computes lower bounds on the privacy loss of a release, from samples of the release on two neighboring data sets. */

/**
 * The maximum probability that a bound is wrong. Each bound uses two estimated probabilities, and each estimate may be
 * wrong with half of this probability.
 */
const ERROR = 1e-6;
const TRAINING_SHARE = 0.25;
/** The maximum number of thresholds t that are tried. Each threshold gives two events. */
const THRESHOLDS = 200;

/**
 * Returns lower bounds on epsilon and rho. Each bound is computed from one event: "the statistic is at least t", or its
 * complement. A part of the samples selects the event with the largest bound. The other samples then give the bound,
 * because a bound from the samples that selected the event would be too large on average.
 */
export function privacyBounds(before: number[], after: number[]): { epsilon: number; rho: number } {
  const cut = Math.floor(before.length * TRAINING_SHARE);
  const training = [before.slice(0, cut), after.slice(0, cut)] as const;
  const rest = [before.slice(cut), after.slice(cut)] as const;
  const values = [...new Set(training.flat())].sort((a, b) => a - b);
  const every = Math.ceil(values.length / THRESHOLDS);
  const thresholds = values.filter((_, i) => i % every === 0);
  const events = thresholds.flatMap((t): Event[] => [(x) => x >= t, (x) => x < t]);
  const best = (measure: (event: Event, samples: Samples) => number) => {
    const chosen = events.reduce((a, b) => (measure(b, training) > measure(a, training) ? b : a));
    return measure(chosen, rest);
  };
  return { epsilon: best(epsilonOf), rho: best(rhoOf) };
}

type Samples = readonly [number[], number[]];
type Event = (x: number) => boolean;

/** By definition, ε ≥ ln(p / q) for the probabilities p and q of any event on the two data sets, in either order. */
function epsilonOf(event: Event, samples: Samples): number {
  return Math.max(...pairsOf(event, samples).map(([p, q]) => Math.log(p / q)));
}

const ORDERS = [1.01, 1.1, 1.25, 1.5, 2, 3];

/**
 * By the definition of zero-concentrated differential privacy, α ρ is at least the Rényi divergence of order α between
 * the releases. If only the occurrence of a single event is considered, the divergence is never larger.
 */
function rhoOf(event: Event, samples: Samples): number {
  const bounds = pairsOf(event, samples)
    .filter(([p, q]) => p > q)
    .flatMap(([p, q]) =>
      ORDERS.map((order) => {
        const sum = p ** order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order);
        return Math.log(sum) / (order - 1) / order;
      }),
    );
  return Math.max(0, ...bounds);
}

/**
 * Returns two pairs, one for each order of the data sets. A pair has a lower bound on the event's probability for one
 * data set, and an upper bound for the other data set.
 */
function pairsOf(event: Event, [before, after]: Samples): [number, number][] {
  const [a, b] = [before.filter(event).length / before.length, after.filter(event).length / after.length];
  const n = before.length;
  return [
    [lowerBound(a, n), upperBound(b, n)],
    [lowerBound(b, n), upperBound(a, n)],
  ];
}

/**
 * Returns a lower bound on an event's probability p, from the event's share of n draws. By Chernoff's bound, the share
 * is at least x > p with probability at most exp(−n KL(x, p)). KL is the relative entropy (see `divergence`).
 */
function lowerBound(share: number, n: number): number {
  let [low, high] = [0, share];
  for (let i = 0; i < 60; i++) {
    const p = (low + high) / 2;
    if (divergence(share, p) * n > Math.log(2 / ERROR)) low = p;
    else high = p;
  }
  return low;
}

const upperBound = (share: number, n: number) => 1 - lowerBound(1 - share, n);

/** The relative entropy of two Bernoulli distributions. */
function divergence(share: number, p: number): number {
  const term = (x: number, y: number) => (x === 0 ? 0 : x * Math.log(x / y));
  return term(share, p) + term(1 - share, 1 - p);
}
