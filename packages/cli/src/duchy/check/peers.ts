/** Checks whether the other duchies respond. */
import type { ExchangeClient } from '@measurement-exchange/sdk';
import { explained } from '../../connection/client.ts';
import { loadDuchy } from '../settings.ts';
import { requireAnswer } from './answer.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { Subject } from './subject.ts';

const { ok, warning, problem } = findingsOf('peers');

export async function checkPeers(
  subject: Subject,
  client: ExchangeClient,
  known: readonly string[],
): Promise<Finding[]> {
  const { name, config } = subject;
  const pinned = Object.keys(config.peers ?? {});
  const peers = [...new Set([...known, ...pinned])].filter((peer) => peer !== name).sort();
  if (peers.length === 0) return [warning('No other duchy is known: put their roots into roots.')];
  return Promise.all(peers.map((peer) => checkPeer(subject, client, peer)));
}

async function checkPeer(subject: Subject, client: ExchangeClient, peer: string): Promise<Finding> {
  const { mode, peers } = subject.config;
  const { peerAddress } = await loadDuchy();
  try {
    const address = await peerAddress({ client, peers, requiresPublicPeers: mode === 'production' }, peer);
    if (address === undefined) return problem(`${peer} has no endpoint at the exchange: ask its operator.`);
    const { url, lookup } = address();
    await requireAnswer(subject, peer, { url, lookup });
    return ok(`${peer} answers at ${url.origin}.`);
  } catch (error) {
    return problem(`${peer} does not answer: ${(explained(error) as Error).message}`);
  }
}
