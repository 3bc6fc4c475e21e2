import type { DataProvider } from '@measurement-exchange/contract';
import { MPC_PROTOCOLS, type MpcProtocol } from '@measurement-exchange/mpc/protocols';
import type { ExchangeClient } from '../../client/index.ts';

/** Tells the exchange which protocols this provider takes part in, where it says otherwise. */
export async function announceProtocols(
  client: ExchangeClient,
  {
    name,
    supported,
    signal,
  }: { name: string; supported: readonly MpcProtocol[]; signal?: AbortSignal | undefined },
): Promise<void> {
  const options = { name, ...(signal && { signal }) };
  const { capabilities = {} } = (await client.getParty(options)) as DataProvider;
  const differing = MPC_PROTOCOLS.filter(
    (protocol) => (capabilities[`${protocol}Supported`] ?? false) !== supported.includes(protocol),
  );
  if (differing.length === 0) return;
  const announced = differing.map((protocol) => [`${protocol}Supported`, supported.includes(protocol)]);
  await client.updateParty({
    ...options,
    body: { capabilities: { ...capabilities, ...Object.fromEntries(announced) } },
  });
}
