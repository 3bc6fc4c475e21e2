import type { DataProvider } from '@measurement-exchange/contract';
import type { ExchangeClient } from '../../client/index.ts';

/** Tells the exchange whether this provider takes part in share-shuffle, where it says otherwise. */
export async function announceShareShuffle(
  client: ExchangeClient,
  { name, supported, signal }: { name: string; supported: boolean; signal?: AbortSignal | undefined },
): Promise<void> {
  const options = { name, ...(signal && { signal }) };
  const { capabilities } = (await client.getParty(options)) as DataProvider;
  if ((capabilities?.honestMajorityShareShuffleSupported ?? false) === supported) return;
  await client.updateParty({
    ...options,
    body: { capabilities: { ...capabilities, honestMajorityShareShuffleSupported: supported } },
  });
}
