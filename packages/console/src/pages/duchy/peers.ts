/** The parties of a duchy's last computations, and whether this machine has a root for each. */
import type { Computation } from '@measurement-exchange/contract';
import type { About } from '../../companion/methods.ts';

export interface Peer {
  party: string;
  computations: number;
  lastTime: string;
}

/** Counts the parties of computations, given with the last changed first. The caller itself is left out. */
export function peersOf(computations: readonly Computation[], own: string): Peer[] {
  const peers = new Map<string, Peer>();
  for (const { measurementConsumer, participants, requisitions, updateTime = '' } of computations) {
    const parties = new Set([
      measurementConsumer,
      ...Object.keys(participants),
      ...requisitions.map(({ dataProvider }) => dataProvider),
    ]);
    parties.delete(own);
    for (const party of parties) {
      const { computations: earlier, lastTime } = peers.get(party) ?? {
        computations: 0,
        lastTime: updateTime,
      };
      peers.set(party, { party, computations: earlier + 1, lastTime });
    }
  }
  return [...peers.values()].sort((a, b) => (a.party < b.party ? -1 : 1));
}

/** `own` if the party has a root of its own here, `shared` if only a root for all parties fits, else `missing`. */
export type RootState = 'own' | 'shared' | 'missing';

export function rootOf(party: string, { roots }: Pick<About, 'roots'>): RootState {
  if (roots.some((root) => root.party === party)) return 'own';
  return roots.some((root) => root.party === undefined) ? 'shared' : 'missing';
}
