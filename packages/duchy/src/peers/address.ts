/** Finds the address to which messages for another duchy are sent. */
import type { LookupFunction } from 'node:net';
import type { Duchy as DuchyParty } from '@measurement-exchange/contract';
import { endpointUrl, publicOnly } from '@measurement-exchange/sdk/endpoints';
import type { Duchy } from '../computations/context.ts';

export interface PeerAddress {
  url: URL;
  /** Resolves the host name, and throws if the address is not public. Undefined if any address is allowed. */
  lookup: LookupFunction | undefined;
}

/**
 * Resolves to a function that checks the peer's endpoint and returns the address, or to undefined if the peer has no
 * endpoint. In production, an endpoint from the exchange must be public, so that it cannot be a service in this duchy's
 * own network.
 */
export async function peerAddress(
  { client, peers, requiresPublicPeers }: Pick<Duchy, 'client' | 'peers' | 'requiresPublicPeers'>,
  peer: string,
): Promise<(() => PeerAddress) | undefined> {
  const pinned = peers && Object.hasOwn(peers, peer) ? peers[peer]!.endpoint : undefined;
  const endpoint = pinned ?? ((await client.getParty({ name: peer })) as DuchyParty).endpoint;
  if (endpoint === undefined) return undefined;
  return () => {
    const url = endpointUrl(endpoint, { allowHttp: !requiresPublicPeers });
    if (requiresPublicPeers && pinned === undefined) return { url, ...publicOnly(url) };
    return { url, lookup: undefined };
  };
}
