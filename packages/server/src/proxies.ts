/** Checks the list of proxies whose X-Forwarded-For header a server trusts. */
import { isIP } from 'node:net';

/**
 * The shortest allowed prefix of a range, in bits, for IPv4 and IPv6. The largest private networks are 10.0.0.0/8 and
 * fc00::/7, so a shorter prefix would include part of the Internet.
 */
const SHORTEST_PREFIX = { 4: 8, 6: 7 };

export function proxyRangeProblems(setting: string, ranges: readonly string[] = []): string[] {
  return ranges.flatMap((range) => {
    const problem = rangeProblem(range);
    return problem === undefined ? [] : [`${setting}: "${range}" ${problem}`];
  });
}

/**
 * Returns the problem with a range, or undefined if the range is valid. Rejects a prefix shorter than
 * `SHORTEST_PREFIX`, because a trusted proxy can claim any address for its client.
 */
function rangeProblem(range: string): string | undefined {
  const [address = '', prefix, ...rest] = range.split('/');
  const version = isIP(address);
  const bits = prefix === undefined ? 128 : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (version === 0 || rest.length > 0 || !(prefix === undefined || bits <= (version === 4 ? 32 : 128))) {
    return 'is not an address or CIDR. Write it as 10.1.2.0/24.';
  }
  if (bits < SHORTEST_PREFIX[version as 4 | 6])
    return 'trusts far too many. List only the addresses of your proxies.';
  // An IPv4 address written as IPv6 starts with ::ffff. Reject it, because ::ffff:0:0/96 would include every IPv4
  // address.
  if (version === 6 && new URL(`http://[${address}]`).hostname.startsWith('[::ffff:')) {
    return 'is an IPv4 address written as IPv6. Write it as IPv4.';
  }
  return undefined;
}
