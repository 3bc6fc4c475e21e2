/** The address at which another duchy takes messages. */
import type { LookupFunction } from 'node:net';
import type { Duchy as DuchyParty } from '@measurement-exchange/contract';
import { endpointUrl, publicOnly } from '@measurement-exchange/sdk/endpoints';
import type { Duchy } from '../computations/context.ts';

export interface PeerAddress {
  url: URL;
  /** Set if the address must be public. The connection must then use this function. */
  lookup: LookupFunction | undefined;
}

/**
 * Returns a function that checks the peer's endpoint and throws EndpointRefused, or undefined if the peer has no endpoint.
 * In production, an endpoint from the exchange must have a public address, because it could otherwise be a service in this
 * duchy's own network. The address of an endpoint from the settings is not checked.
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
