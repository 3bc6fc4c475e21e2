import type { DataProvider, Protocol } from '@measurement-exchange/contract';
import type { ExchangeClient } from '../../client/index.ts';

/** Protocols of duchies, in which a provider takes part or not. */
export type MultiPartyProtocol = Exclude<Protocol, 'direct'>;
const PROTOCOLS: readonly MultiPartyProtocol[] = [
  'honestMajorityShareShuffle',
  'reachOnlyLiquidLegionsV2',
  'liquidLegionsV2',
];

/** Tells the exchange which protocols this provider takes part in, where it says otherwise. */
export async function announceProtocols(
  client: ExchangeClient,
  {
    name,
    supported,
    signal,
  }: { name: string; supported: readonly MultiPartyProtocol[]; signal?: AbortSignal | undefined },
): Promise<void> {
  const options = { name, ...(signal && { signal }) };
  const { capabilities = {} } = (await client.getParty(options)) as DataProvider;
  const differing = PROTOCOLS.filter(
    (protocol) => (capabilities[`${protocol}Supported`] ?? false) !== supported.includes(protocol),
  );
  if (differing.length === 0) return;
  const announced = differing.map((protocol) => [`${protocol}Supported`, supported.includes(protocol)]);
  await client.updateParty({
    ...options,
    body: { capabilities: { ...capabilities, ...Object.fromEntries(announced) } },
  });
}
