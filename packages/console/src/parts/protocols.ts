/** The ways to count, in plain words. */
import type { Protocol } from '@measurement-exchange/contract';

export const PROTOCOL_WORDS: Record<Protocol, { label: string; meaning: string; name: string }> = {
  honestMajorityShareShuffle: {
    label: 'Share shuffle',
    meaning: 'Each person counts once. Three duchies compute it, exact apart from the noise.',
    name: 'Honest Majority Share Shuffle',
  },
  reachOnlyLiquidLegionsV2: {
    label: 'Sketches',
    meaning: 'Each person counts once, estimated from sketches. Works without a common population.',
    name: 'Reach-Only Liquid Legions V2',
  },
  liquidLegionsV2: {
    label: 'Sketches with frequency',
    meaning: 'Each person counts once, estimated from sketches. Works without a common population.',
    name: 'Liquid Legions V2',
  },
  direct: {
    label: 'Each publisher alone',
    meaning: 'No duchies. Every publisher has a figure of its own, and the figures cannot be added up.',
    name: 'Direct',
  },
};
