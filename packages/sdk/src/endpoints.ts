/**
 * Checks the endpoints of duchies, which the exchange supplies. Without these checks, the exchange's operator could
 * make providers or duchies connect to services on their own private networks, or send data unencrypted.
 */
import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { hostOf, isPublicAddress } from '@measurement-exchange/contract';

/** Thrown if an endpoint fails a check. Nothing was sent to the endpoint. */
export class EndpointRefused extends Error {
  override readonly name = 'EndpointRefused';
}

/**
 * Parses an endpoint: an https URL, or an http URL if `allowHttp` is set. An endpoint has no path, so that callers can
 * append one. Throws `EndpointRefused` for anything else.
 */
export function endpointUrl(endpoint: string, { allowHttp = false } = {}): URL {
  const url = URL.parse(endpoint);
  const isHost =
    url !== null && url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password;
  if (!isHost)
    throw new EndpointRefused(`The endpoint ${JSON.stringify(endpoint)} is not the URL of a host.`);
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) {
    throw new EndpointRefused(`The endpoint ${endpoint} is not https.`);
  }
  return url;
}

/**
 * Returns request options that allow connections only to public addresses. The options check the address that the
 * connection uses, so a later DNS change cannot bypass the check. Throws if the URL contains a private IP address.
 */
export function publicOnly(url: URL): { lookup: LookupFunction } {
  const host = hostOf(url);
  // Check IP addresses here, because Node calls `lookup` only for host names.
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw notPublic(host);
  return {
    lookup: (hostname, options, callback) =>
      lookup(hostname, { ...options, all: true }, (error, addresses) => {
        if (error) return callback(error, '', 0);
        if (addresses.length === 0 || addresses.some(({ address }) => !isPublicAddress(address))) {
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
