import { describe, expect, it } from 'vitest';
import { Destinations, networkList } from './destinations.ts';

const SETTING = { deniedNetworks: [], perSecond: 5, partyPerSecond: 2 };
const HERE = '192.0.2.1';

describe('the deliveries to one address', () => {
  /** Returns how many of 500 attempts per party are allowed immediately. */
  function taken(destinations: Destinations, parties: string[], address = HERE): number[] {
    const counts = parties.map(() => 0);
    for (let i = 0; i < 500; i++) {
      for (const [p, party] of parties.entries())
        if (destinations.take(party, [address]) === 0) counts[p]! += 1;
    }
    return counts;
  }

  it('are limited to the rate of a party, with a burst of ten seconds', () => {
    let now = 0;
    const destinations = new Destinations(SETTING, false, () => now);
    expect(taken(destinations, ['a'])).toEqual([20]);
    now += 3_000;
    expect(taken(destinations, ['a'])).toEqual([6]);
    now += 3_600_000;
    expect(taken(destinations, ['a'])).toEqual([20]);
  });

  it('are limited to a common rate of all parties, which the parties share equally', () => {
    let now = 0;
    const destinations = new Destinations(SETTING, false, () => now);
    const counts = taken(destinations, ['a', 'b', 'c', 'd', 'e']);
    expect(counts).toEqual([10, 10, 10, 10, 10]);
    now += 1_000;
    expect(taken(destinations, ['f'])).toEqual([5]);
    // Each address has its own rate limit, so this address is available while the limit of the other address is used
    // up.
    expect(taken(destinations, ['a'], '192.0.2.2')).toEqual([20]);
  });

  it('may be retried after the returned time, and rejected attempts do not count', () => {
    let now = 0;
    const destinations = new Destinations(SETTING, false, () => now);
    taken(destinations, ['a']);
    const wait = destinations.take('a', [HERE]);
    expect(wait).toBe(500);
    now += wait / 2;
    expect(destinations.take('a', [HERE])).toBe(wait / 2);
    now += wait / 2;
    expect(destinations.take('a', [HERE])).toBe(0);
  });
});

it('denies IPv4 and IPv6 networks and single addresses, and throws for an invalid network', () => {
  const { isDenied, ...rest } = new Destinations(
    { ...SETTING, deniedNetworks: ['8.8.8.0/24', '1.1.1.1', '2606:4700::/32'] },
    false,
  );
  const denied = (address: string) => isDenied.call(rest, address);
  expect(['8.8.8.8', '1.1.1.1', '2606:4700::1111'].map(denied)).toEqual([true, true, true]);
  expect(['8.8.9.8', '1.1.1.2', '2606:4701::1'].map(denied)).toEqual([false, false, false]);
  expect(() => networkList(['1.1.1.1/33'])).toThrow();
});
