import type { Measurement, Population } from '@measurement-exchange/contract';
import type { UseQueryResult } from '@tanstack/react-query';
import { useResource } from '../../../live/useResource.ts';

/** Reads the population of the measurement. Only the config of the share shuffle protocol names a population. */
export function usePopulation({ protocolConfig }: Measurement): UseQueryResult<Population> {
  const name = protocolConfig?.honestMajorityShareShuffle?.population;
  return useResource(
    'populations',
    ['one', name],
    ({ client }, signal) => client.getPopulation({ name: name!, signal }),
    {
      enabled: name !== undefined,
      staleTime: 300_000,
    },
  );
}
