/** Which faults there are on each link, how hard, and in which order they come. */
import type { Random } from '../random.ts';
import type { Fault } from './faults.ts';

/** Between callers and exchanges, or between exchanges and PostgreSQL. */
export type LinkName = 'clients' | 'database';

export interface Window {
  link: LinkName;
  fault: Fault;
  /** Faults of the connections. */
  share: number;
}

const MILD: ((random: Random) => Fault)[] = [
  () => ({ kind: 'latency', ms: 150, jitterMs: 100 }),
  () => ({ kind: 'bandwidth', bytesPerSecond: 20_000 }),
  () => ({ kind: 'slicer', bytes: 11, ms: 1 }),
  () => ({ kind: 'slowClose', ms: 2_000 }),
  (random) => ({ kind: 'limitData', bytes: 500 + random.int(20_000) }),
  (random) => ({ kind: 'reset', ms: random.int(300) }),
  () => ({ kind: 'down' }),
  () => ({ kind: 'blackHole' }),
  // On the callers' side it is the exchange that is not told: a caller knows when itself is gone.
  () => ({ kind: 'halfOpen', gone: 'client' }),
];

const KINDS: Record<LinkName, ((random: Random) => Fault)[]> = {
  clients: MILD,
  database: [
    ...MILD,
    () => ({ kind: 'halfOpen', gone: 'server' }),
    (random) => ({ kind: 'dropBeforeCommit', chance: () => random.chance(0.3) }),
    (random) => ({ kind: 'dropAfterCommit', chance: () => random.chance(0.3) }),
  ],
};

/** A server that never responds tests a deadline only when the fault lasts longer than the deadline, which is 8 s. */
const PAST_DEADLINE_MS = 11_000;

export function lengthOf({ fault }: Window, ordinaryMs: number): number {
  return fault.kind === 'blackHole' || fault.kind === 'halfOpen'
    ? Math.max(ordinaryMs, PAST_DEADLINE_MS)
    : ordinaryMs;
}

/** `count` windows: every kind on every link once in some order, then again. A dropped response to COMMIT comes first. */
export function drawWindows(random: Random, count: number): Window[] {
  const windows: Window[] = [];
  while (windows.length < count) {
    const round = (Object.keys(KINDS) as LinkName[]).flatMap((link) =>
      KINDS[link].map((make): Window => ({ link, fault: make(random), share: random.chance(0.6) ? 1 : 0.5 })),
    );
    windows.push(...shuffled(random, round));
  }
  const first = windows.findIndex(({ fault }) => fault.kind === 'dropAfterCommit');
  windows.unshift(...windows.splice(first, 1));
  return windows.slice(0, count);
}

/** `half of the connections of the database link: halfOpen, server gone` */
export function describe({ link, fault, share }: Window): string {
  const figures = Object.entries(fault).filter(
    ([key, value]) => key !== 'kind' && typeof value !== 'function',
  );
  const told = [fault.kind, ...figures.map(([key, value]) => `${key} ${value}`)].join(' ');
  return `${told} on ${share === 1 ? '' : `${share} of `}the ${link} link`;
}

function shuffled<T>(random: Random, items: T[]): T[] {
  const result = [...items];
  for (let i = result.length - 1; i > 0; i--) {
    const j = random.int(i + 1);
    [result[i], result[j]] = [result[j]!, result[i]!];
  }
  return result;
}
