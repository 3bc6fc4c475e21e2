/**
 * Distinguishes public addresses and host names from private ones. Addresses are parsed here because browsers have only a
 * parser of URLs.
 */

type Network = readonly [network: string, prefix: number];

/** IPv4 networks that IANA lists as not public, and the address of a metadata service, which IANA lists as public. */
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
/** Public IPv6 addresses are in this range. Addresses that contain an IPv4 address, such as NAT64, are outside of it. */
const GLOBAL_UNICAST: Network[] = [['2000::', 3]];
/** Networks in GLOBAL_UNICAST that are not public: tunnels to IPv4 (Teredo, 6to4), protocol assignments, documentation. */
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

/** Accepts any spelling of RFC 4291. Text that is not an IP address is not public, nor is an address with a zone. */
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

/** The address as 32 or 128 binary digits; undefined for text that is not an IP address. */
function bitsOf(address: string): string | undefined {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(address)) {
    const octets = address.split('.').map(Number);
    return octets.every((octet) => octet < 256) ? binary(octets, 8) : undefined;
  }
  if (!/^[\da-f:.]+$/i.test(address)) return undefined;
  // The parser of URLs normalizes every spelling to hexadecimal groups with at most one `::`.
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

/** Whether the host is public, judged by its text alone: a name is not resolved. */
export function isPublicHost(host: string): boolean {
  if (bitsOf(host) !== undefined) return isPublicAddress(host);
  return host.includes('.') && !PRIVATE_NAME.test(host);
}

/** The host without the brackets of an IPv6 address and without the dot that ends an absolute name. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
