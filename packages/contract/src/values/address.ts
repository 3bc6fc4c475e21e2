/**
 * Tells public addresses and names from those of private networks. It parses addresses itself, because browsers have no
 * other parser than that of URLs.
 */

type Network = readonly [network: string, prefix: number];

/** IPv4 that is not public, by the registry of special-purpose addresses, and a metadata service with a public one. */
const SPECIAL: Network[] = [
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
];
/** Public IPv6 addresses are in this range, which leaves out addresses that carry IPv4, such as mapped and NAT64 ones. */
const GLOBAL_UNICAST: Network[] = [['2000::', 3]];
/** Exceptions in that range: tunnels to IPv4 (Teredo, 6to4), protocol assignments and documentation. */
const NOT_GLOBAL: Network[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];
const LOOPBACK: Network[] = [
  ['127.0.0.0', 8],
  ['::1', 128],
];

/** Whether this is a public IP address, in any spelling of RFC 4291. Other text, or an address with a zone, is not public. */
export function isPublicAddress(address: string): boolean {
  const bits = bitsOf(address);
  if (bits?.length === 32) return !isIn(bits, SPECIAL);
  return bits !== undefined && isIn(bits, GLOBAL_UNICAST) && !isIn(bits, NOT_GLOBAL);
}

export function isLoopbackAddress(address: string): boolean {
  const bits = bitsOf(address);
  return bits !== undefined && isIn(bits, LOOPBACK);
}

function isIn(bits: string, networks: readonly Network[]): boolean {
  return networks.some(([network, prefix]) => {
    const others = bitsOf(network)!;
    return others.length === bits.length && others.slice(0, prefix) === bits.slice(0, prefix);
  });
}

/** 32 or 128 digits, 0 or 1; undefined for text that is not an IP address. */
function bitsOf(address: string): string | undefined {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(address)) {
    const octets = address.split('.').map(Number);
    return octets.every((octet) => octet < 256) ? binary(octets, 8) : undefined;
  }
  if (!/^[\da-f:.]+$/i.test(address)) return undefined;
  // The parser writes all spellings alike: in hexadecimal, with at most one gap.
  const host = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1);
  if (host === undefined) return undefined;
  const [before, after = []] = host.split('::').map((part) => part.split(':').filter(Boolean));
  const gap = Array<string>(8 - before!.length - after.length).fill('0');
  return binary(
    [...before!, ...gap, ...after].map((group) => Number.parseInt(group, 16)),
    16,
  );
}

const binary = (numbers: number[], digits: number) =>
  numbers.map((each) => each.toString(2).padStart(digits, '0')).join('');

const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa|onion)$/i;

/** Judges by the text alone: a name is not resolved. */
export function isPublicHost(host: string): boolean {
  if (bitsOf(host) !== undefined) return isPublicAddress(host);
  return host.includes('.') && !PRIVATE_NAME.test(host);
}

/** Unbracketed, and without the dot that ends an absolute name. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
