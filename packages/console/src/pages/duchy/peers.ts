/** Lists the parties in a duchy's latest computations, and checks whether this machine has a root for each party. */
import type { Computation } from '@measurement-exchange/contract';
import type { About } from '../../companion/methods.ts';

export interface Peer {
  party: string;
  computations: number;
  lastTime: string;
}

/** Lists the other parties, and counts the computations of each. `computations` must be sorted, latest change first. */
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

/**
 * `own` means that this machine has a root for this party. `shared` means that it has only a root without a party,
 * which applies to every party that has no root of its own.
 */
export type RootState = 'own' | 'shared' | 'missing';

export function rootOf(party: string, { roots }: Pick<About, 'roots'>): RootState {
  if (roots.some((root) => root.party === party)) return 'own';
  return roots.some((root) => root.party === undefined) ? 'shared' : 'missing';
}
