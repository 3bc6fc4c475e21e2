/** Checks whether the other duchies respond. */
import type { DuchyConfig } from '@measurement-exchange/duchy';
import type { ExchangeClient } from '@measurement-exchange/sdk';
import { explained } from '../../connection/client.ts';
import { loadDuchy } from '../settings.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { Subject } from './subject.ts';

const { ok, warning, problem } = findingsOf('peers');

export async function checkPeers(
  { name, config }: Subject,
  client: ExchangeClient,
  known: readonly string[],
): Promise<Finding[]> {
  const pinned = Object.keys(config.peers ?? {});
  const peers = [...new Set([...known, ...pinned])].filter((peer) => peer !== name).sort();
  if (peers.length === 0) return [warning('No other duchy is known: put their roots into roots.')];
  return Promise.all(peers.map((peer) => checkPeer(config, client, peer)));
}

async function checkPeer(
  { mode, peers }: DuchyConfig,
  client: ExchangeClient,
  peer: string,
): Promise<Finding> {
  const { peerAddress, requireHealthy } = await loadDuchy();
  try {
    const address = await peerAddress({ client, peers, requiresPublicPeers: mode === 'production' }, peer);
    if (address === undefined) return problem(`${peer} has no endpoint at the exchange: ask its operator.`);
    const { url, lookup } = address();
    await requireHealthy({ url, lookup });
    return ok(`${peer} answers at ${url.origin}.`);
  } catch (error) {
    return problem(`${peer} does not answer: ${(explained(error) as Error).message}`);
  }
}
