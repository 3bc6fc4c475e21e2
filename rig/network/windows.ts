/** The faults of each link, with their strength and their order. */
import type { Random } from '../random.ts';
import type { Fault } from './faults.ts';

/** The link between callers and exchanges, or between exchanges and PostgreSQL. */
export type LinkName = 'clients' | 'database';

export interface Window {
  link: LinkName;
  fault: Fault;
  /** The fraction of the connections that have the fault. */
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
  // The client end disappears without notice: the caller, or the exchange on the link to PostgreSQL. Only on the link
  // to PostgreSQL can the server end disappear, too (see KINDS).
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

/**
 * With some faults, no response arrives. Such a fault tests the exchange's deadline for transactions (8 s) only if the
 * fault lasts longer than the deadline.
 */
const PAST_DEADLINE_MS = 11_000;

export function lengthOf({ fault }: Window, ordinaryMs: number): number {
  return fault.kind === 'blackHole' || fault.kind === 'halfOpen'
    ? Math.max(ordinaryMs, PAST_DEADLINE_MS)
    : ordinaryMs;
}

/**
 * Draws `count` windows in rounds. A round has each fault of each link (see KINDS) once, in random order. The first
 * window of all drops COMMIT responses.
 */
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

/** Returns, for example, `halfOpen gone server on 0.5 of the database link`. */
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
