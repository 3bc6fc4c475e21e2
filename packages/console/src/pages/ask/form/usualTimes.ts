/** Computes the usual duration of each protocol from the consumer's recent measurements. */
import { type Measurement, PROTOCOLS, type Protocol } from '@measurement-exchange/contract';
import { useResource } from '../../../live/useResource.ts';

/** The median duration of each protocol, in milliseconds. */
export type UsualTimes = ReadonlyMap<Protocol, number>;

const RECENT = 50;

export function useUsualTimes(): UsualTimes {
  const { data } = useResource(
    'measurements',
    ['usual times'],
    async ({ client, principal }, signal) => {
      const { measurements } = await client
        .listMeasurements({
          parent: principal,
          pageSize: RECENT,
          'filter.states': ['SUCCEEDED'],
          orderBy: 'createTime desc',
          signal,
        })
        .page();
      return usualTimes(measurements);
    },
    { staleTime: Number.POSITIVE_INFINITY },
  );
  return data ?? new Map();
}

export function usualTimes(measurements: readonly Measurement[]): UsualTimes {
  const times = new Map<Protocol, number[]>();
  for (const { protocolConfig, createTime, updateTime } of measurements) {
    const protocol = PROTOCOLS.find((name) => protocolConfig?.[name] !== undefined);
    if (protocol === undefined || createTime === undefined || updateTime === undefined) continue;
    const took = Date.parse(updateTime) - Date.parse(createTime);
    times.set(protocol, [...(times.get(protocol) ?? []), took]);
  }
  return new Map([...times].map(([protocol, of]) => [protocol, of.sort((a, b) => a - b)[of.length >> 1]!]));
}
