/**
 * Distinguishes public addresses and host names from private ones. This file parses IP addresses itself, because a
 * browser has no function that does so.
 */

type Network = readonly [network: string, prefix: number];

/**
 * IPv4 networks that are not public according to IANA, plus the address of a cloud metadata service, which IANA lists
 * as public.
 */
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
/** The range that contains all public IPv6 addresses. NAT64 and IPv4-mapped addresses are outside this range. */
const GLOBAL_UNICAST: Network[] = [['2000::', 3]];
/**
 * Networks in GLOBAL_UNICAST that are not public: tunnels to IPv4 (Teredo, 6to4), protocol assignments, documentation.
 */
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

/**
 * Returns whether an IP address is public. Accepts any RFC 4291 notation. Returns false for an address with a zone,
 * such as `fe80::1%eth0`, and for text that is not an IP address.
 */
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

/** Returns the address as 32 or 128 binary digits, or undefined if the text is not an IP address. */
function bitsOf(address: string): string | undefined {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(address)) {
    const octets = address.split('.').map(Number);
    return octets.every((octet) => octet < 256) ? binary(octets, 8) : undefined;
  }
  if (!/^[\da-f:.]+$/i.test(address)) return undefined;
  // The URL parser normalizes every notation to hexadecimal groups with at most one `::`.
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

/** Returns whether the host is a public address or looks like a public name. Does not resolve names. */
export function isPublicHost(host: string): boolean {
  if (bitsOf(host) !== undefined) return isPublicAddress(host);
  return host.includes('.') && !PRIVATE_NAME.test(host);
}

/** Returns the host without the brackets around an IPv6 address, and without the final dot of an absolute name. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
