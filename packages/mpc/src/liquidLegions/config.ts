/** The roles of a ring, whichever of the two protocols it runs. */
import type { LiquidLegionsConfig } from '@measurement-exchange/contract';

export function rolesOf({ workers, aggregator }: Pick<LiquidLegionsConfig, 'workers' | 'aggregator'>) {
  return [
    ...workers.map((worker): [string, 'WORKER'] => [worker, 'WORKER']),
    [aggregator, 'AGGREGATOR'] satisfies [string, 'AGGREGATOR'] as [string, 'AGGREGATOR'],
  ];
}
