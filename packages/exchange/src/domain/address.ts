/** Which addresses and names are of the public internet: everything else belongs to somebody's own network. */
import { BlockList, isIP } from 'node:net';

/** IPv4 that is not public, by the registry of special-purpose addresses, and a metadata service with a public one. */
const SPECIAL = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  SPECIAL.addSubnet(network, prefix, 'ipv4');
}

/** IPv6 is public only here, which leaves out what carries an IPv4 address, such as mapped and NAT64 ones, */
const GLOBAL_UNICAST = new BlockList();
GLOBAL_UNICAST.addSubnet('2000::', 3, 'ipv6');
/** and of this range not tunnels to IPv4 (Teredo, 6to4), protocol assignments and documentation. */
const NOT_GLOBAL = new BlockList();
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  NOT_GLOBAL.addSubnet(network, prefix, 'ipv6');
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Of an IP address in any spelling of RFC 4291; what is no address is not public. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !SPECIAL.check(address, 'ipv4');
  // A zone names an interface of this machine.
  if (version !== 6 || address.includes('%')) return false;
  return GLOBAL_UNICAST.check(address, 'ipv6') && !NOT_GLOBAL.check(address, 'ipv6');
}

export function isLoopbackAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && LOOPBACK.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa|onion)$/i;

/** By the text of the host alone: what a public name stands for is not looked up. */
export function isPublicHost(host: string): boolean {
  if (isIP(host) !== 0) return isPublicAddress(host);
  return host.includes('.') && !PRIVATE_NAME.test(host);
}

/** Unbracketed, and without the dot that ends an absolute name. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
