/**
 * The changes that every watcher must see, read from the transition log, which has every version of every measurement
 * and requisition.
 */
import type { Change } from '@measurement-exchange/contract';
import type { Postgres } from '../world/postgres.ts';

/** The versions of each resource of a party in order, with their states, by the name of the resource. */
export type Truth = Map<string, { version: number; state: string }[]>;

const STEPS = `
  SELECT m.consumer AS party, m.consumer || '/measurements/' || m.id AS name, t.version, t.to_state AS state
    FROM transitions t JOIN measurements m ON m.id = t.measurement WHERE t.requisition = ''
  UNION ALL
  SELECT r.provider, r.provider || '/requisitions/' || r.id, t.version, t.to_state
    FROM transitions t JOIN requisitions r ON r.id = t.requisition
  UNION ALL
  SELECT m.consumer, m.consumer || '/measurements/' || m.id || '/requisitions/' || t.requisition, t.version, t.to_state
    FROM transitions t JOIN measurements m ON m.id = t.measurement WHERE t.requisition <> ''
  ORDER BY party, name, version`;

/** Reads the truth for each party. */
export async function truthOf(postgres: Postgres): Promise<Map<string, Truth>> {
  const truths = new Map<string, Truth>();
  for (const row of await postgres.query(STEPS)) {
    const { party, name, version, state } = row as Record<'party' | 'name' | 'state', string> & {
      version: number;
    };
    const truth = truths.get(party) ?? new Map();
    truths.set(party, truth);
    truth.set(name, [...(truth.get(name) ?? []), { version, state }]);
  }
  return truths;
}

export function changesIn(truth: Truth): number {
  return [...truth.values()].reduce((sum, versions) => sum + versions.length, 0);
}

/**
 * Returns true for a change of a measurement or a requisition. Only these changes are compared, because other resources
 * do not change here.
 */
export function isStep({ kind }: Change): boolean {
  return kind === 'MEASUREMENT' || kind === 'REQUISITION';
}

/**
 * Returns true if any version of a resource was skipped, repeated or out of order. Unlike `mistakeIn`, does not need
 * the truth.
 */
export function hasLeap(seen: readonly Change[]): boolean {
  const last = new Map<string, number>();
  return seen.filter(isStep).some(({ name, version }) => {
    const isNext = version === (last.get(name) ?? 0) + 1;
    last.set(name, version!);
    return !isNext;
  });
}

/** Returns the first mistake in the seen changes, or undefined if every version was seen once and in order. */
export function mistakeIn(seen: readonly Change[], truth: Truth): string | undefined {
  const next = new Map<string, number>();
  for (const { name, version, state } of seen.filter(isStep)) {
    const versions = truth.get(name);
    if (versions === undefined) return `${name}, which is not the party's, or does not exist`;
    const expected = versions[next.get(name) ?? 0];
    if (expected === undefined) return `version ${version} of ${name} after its last one`;
    if (version !== expected.version || state !== expected.state) {
      return `version ${version} (${state}) of ${name} instead of ${expected.version} (${expected.state})`;
    }
    next.set(name, (next.get(name) ?? 0) + 1);
  }
  for (const [name, versions] of truth) {
    const found = next.get(name) ?? 0;
    if (found < versions.length) return `${found} of ${versions.length} versions of ${name}`;
  }
  return undefined;
}
