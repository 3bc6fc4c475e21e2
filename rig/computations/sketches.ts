/** Combines the sketches of all providers without encryption, and computes the reach and the frequency shares. */
import type { LiquidLegionsConfig } from '@measurement-exchange/contract';
import { FrequencySketch } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/provider';
import { DESTROYED, estimatePeople } from '@measurement-exchange/mpc/sketches';
import { type Audience, MAXIMUM_FREQUENCY, type Truth } from './audience.ts';

/** The number of sampling indicators if the configuration sets none. The number has no effect on reach. */
const INDICATORS = 10_000_000;

export function sketchTruthOf(config: LiquidLegionsConfig, audiences: Audience[]): Truth {
  const sketch = new FrequencySketch({ samplingIndicatorSize: INDICATORS, ...config });
  for (const audience of audiences) for (const [vid, times] of audience) sketch.add(vid, times);
  const counts = new Array<number>(MAXIMUM_FREQUENCY).fill(0);
  let active = 0;
  sketch.frequencies.forEach((frequency, i) => {
    if (frequency === 0) return;
    active++;
    if (sketch.keys[i] !== DESTROYED) counts[Math.min(frequency, MAXIMUM_FREQUENCY) - 1]!++;
  });
  const total = counts.reduce((sum, count) => sum + count, 0);
  return {
    reach: Math.trunc(estimatePeople(config, active)),
    shares: counts.map((count) => count / total),
  };
}
