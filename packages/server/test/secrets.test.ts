import { randomBytes } from 'node:crypto';
import { proxyRangeProblems, Secrets } from '@measurement-exchange/server';
import { describe, expect, test } from 'vitest';

describe('a sealed value', () => {
  const secrets = new Secrets(randomBytes(32));
  const plaintext = Buffer.from('what nobody else reads');
  const sealed = secrets.seal('a place', plaintext);

  test('opens in the same place with the same key', () => {
    expect(secrets.open('a place', sealed)).toEqual(plaintext);
    expect(secrets.open('a place', secrets.seal('a place', Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  test('is 28 bytes longer than its plaintext, does not contain it, and has a new nonce each time', () => {
    expect(sealed).toHaveLength(plaintext.length + 28);
    expect(sealed.includes(plaintext.subarray(0, 4))).toBe(false);
    const nonces = Array.from({ length: 100 }, () =>
      secrets.seal('a place', plaintext).subarray(0, 12).toString('hex'),
    );
    expect(new Set(nonces).size).toBe(100);
  });

  test('does not open in another place, with another key, or if it was changed or truncated', () => {
    expect(() => secrets.open('another place', sealed)).toThrow(/another place does not open/);
    expect(() => new Secrets(randomBytes(32)).open('a place', sealed)).toThrow(/does not open/);
    for (let byte = 0; byte < sealed.length; byte++) {
      const changed = Buffer.from(sealed);
      changed[byte]! ^= 1;
      expect(() => secrets.open('a place', changed)).toThrow(/does not open/);
    }
    for (const length of [0, 11, 12, 27]) {
      expect(() => secrets.open('a place', sealed.subarray(0, length))).toThrow(/does not open/);
    }
  });

  test.each([0, 16, 31, 33])('cannot have a key of %d bytes', (length) => {
    expect(() => new Secrets(randomBytes(length))).toThrow('The secrets key must have 32 bytes.');
  });
});

test.each([
  ['10.1.2.3', undefined],
  ['10.0.0.0/8', undefined],
  ['fc00::/7', undefined],
  ['::1/128', undefined],
  ['10.0.0.0/7', 'trusts far too many'],
  ['0.0.0.0/0', 'trusts far too many'],
  ['::/6', 'trusts far too many'],
  ['10.0.0.0/33', 'is not an address or CIDR'],
  ['::1/129', 'is not an address or CIDR'],
  ['10.0.0.0/8/8', 'is not an address or CIDR'],
  ['10.0.0.0/', 'is not an address or CIDR'],
  ['proxy.example.com', 'is not an address or CIDR'],
  ['::ffff:10.0.0.1/128', 'is an IPv4 address written as IPv6'],
])('the problem of the trusted proxy range %s is: %s', (range, problem) => {
  const problems = proxyRangeProblems('listen.trustedProxies', [range, '127.0.0.1/32']);
  expect(problems).toEqual(
    problem === undefined ? [] : [expect.stringContaining(`listen.trustedProxies: "${range}" ${problem}`)],
  );
});
