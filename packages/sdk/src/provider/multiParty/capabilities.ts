import type { DataProvider } from '@measurement-exchange/contract';
import { MPC_PROTOCOLS, type MpcProtocol } from '@measurement-exchange/mpc/protocols';
import type { ExchangeClient } from '../../client/index.ts';

/** Tells the exchange which protocols this provider supports, unless the exchange already knows. */
export async function announceProtocols(
  client: ExchangeClient,
  call: { name: string; signal?: AbortSignal | undefined },
  supported: readonly MpcProtocol[],
): Promise<void> {
  const { capabilities = {} } = (await client.getParty(call)) as DataProvider;
  const differing = MPC_PROTOCOLS.filter(
    (protocol) => (capabilities[`${protocol}Supported`] ?? false) !== supported.includes(protocol),
  );
  if (differing.length === 0) return;
  const announced = differing.map((protocol) => [`${protocol}Supported`, supported.includes(protocol)]);
  const body = { capabilities: { ...capabilities, ...Object.fromEntries(announced) } };
  await client.updateParty({ ...call, body });
}
