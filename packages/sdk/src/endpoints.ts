/**
 * Endpoints of duchies that the exchange names. The operator of the exchange must not be able to make a provider or a duchy
 * connect to a service of its own network, or send in the clear.
 */
import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { hostOf, isPublicAddress } from '@measurement-exchange/contract';

/** Nothing was sent to the endpoint. */
export class EndpointRefused extends Error {
  override readonly name = 'EndpointRefused';
}

/** The URL of an origin, to which a path can be appended. Throws where it is not the URL of a host, or not encrypted. */
export function endpointUrl(endpoint: string, { allowHttp = false } = {}): URL {
  const url = URL.parse(endpoint);
  const isHost =
    url !== null && url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password;
  if (!isHost) throw new EndpointRefused(`The endpoint ${JSON.stringify(endpoint)} is no URL of a host.`);
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) {
    throw new EndpointRefused(`The endpoint ${endpoint} is not https.`);
  }
  return url;
}

/**
 * Options of a request that connects to public addresses alone: those that were checked, so that a name that changes
 * meanwhile gains nothing. Throws where the URL has another address itself.
 */
export function publicOnly(url: URL, isAllowed = isPublicAddress): { lookup: LookupFunction } {
  const host = hostOf(url);
  // Node looks up names only.
  if (isIP(host) !== 0 && !isAllowed(host)) throw notPublic(host);
  return {
    lookup: (hostname, options, callback) =>
      lookup(hostname, { ...options, all: true }, (error, addresses) => {
        if (error) return callback(error, '', 0);
        if (addresses.length === 0 || addresses.some(({ address }) => !isAllowed(address))) {
          return callback(notPublic(hostname), '', 0);
        }
        if (options.all) return callback(null, addresses as never, 0);
        callback(null, addresses[0]!.address, addresses[0]!.family);
      }),
  };
}

function notPublic(host: string): EndpointRefused {
  return new EndpointRefused(`${host} has an address that is not public: set its endpoint if that is right.`);
}
