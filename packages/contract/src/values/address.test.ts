import { expect, it } from 'vitest';
import { hostOf, isLoopbackAddress, isPublicAddress, isPublicHost } from './address.ts';

/**
 * The first and the last address of each network that is not public, and public addresses before and after the network.
 * Undefined stands for an address that does not exist. For IPv6, some addresses are only close to the network's edge.
 */
it.each([
  ['0.0.0.0', '0.255.255.255', undefined, '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0', '255.255.255.255', '223.255.255.255', undefined],
  ['2001::', '2001:1ff:ffff:ffff::', '2000:ffff::1', '2001:200::'],
  ['2001:db8::', '2001:db8:ffff::1', '2001:db7:ffff::1', '2001:db9::'],
  ['2002::', '2002:ffff::1', '2001:ffff::1', '2003::'],
  ['3fff::', '3fff:fff:ffff::1', '3ffe:ffff::1', '3fff:1000::'],
  ['4000::', 'ffff::1', '3fff:ffff::1', undefined],
  ['::', '1fff:ffff::1', undefined, '2000::'],
])('isPublicAddress is false from %s to %s, and true for %s and %s', (first, last, before, after) => {
  expect([first, last].map(isPublicAddress)).toEqual([false, false]);
  for (const neighbor of [before, after])
    if (neighbor) expect(isPublicAddress(neighbor), neighbor).toBe(true);
});

it.each([
  '256.1.1.1',
  '8.8.8',
  '8.8.8.8.8',
  '0x8.8.8.8',
  '2606:4700::1%eth0',
  '2606:4700:::1',
  '2606:4700::1::2',
  '2606:4700',
  '[2606:4700::1]',
  '8.8.8.8]/',
  '',
])('isPublicAddress is false for the invalid address %j', (text) => {
  expect(isPublicAddress(text)).toBe(false);
});

it('isPublicAddress and isLoopbackAddress accept every spelling of an address, except mapped IPv4', () => {
  const spellings = ['2606:4700:0:0:0:0:0:1', '2606:4700::0001', '2606:4700::0.0.0.1', '2606:4700::1'];
  expect(spellings.filter(isPublicAddress)).toEqual(spellings);
  const mapped = ['::ffff:8.8.8.8', '::ffff:808:808', '64:ff9b::8.8.8.8', '2002:808:808::'];
  expect(mapped.filter(isPublicAddress)).toEqual([]);
  expect(['0:0:0:0:0:0:0:1', '::0.0.0.1'].filter(isLoopbackAddress)).toHaveLength(2);
});

it('isLoopbackAddress is true only for 127.0.0.0/8 and ::1', () => {
  const addresses = [
    '127.0.0.0',
    '127.255.255.255',
    '::1',
    '126.255.255.255',
    '128.0.0.0',
    '::2',
    'localhost',
    '',
  ];
  expect(addresses.filter(isLoopbackAddress)).toEqual(['127.0.0.0', '127.255.255.255', '::1']);
});

it('isPublicHost is true for public addresses, and for names with a dot outside of local networks', () => {
  const names = [
    'example.com',
    'local.example',
    'internal.example.com',
    'intranet',
    'a.local',
    'a.INTERNAL',
    'lan',
    'x.lan',
  ];
  expect(names.filter(isPublicHost)).toEqual(['example.com', 'local.example', 'internal.example.com']);
  expect(['8.8.8.8', '10.0.0.1', '2606:4700::1', '::1'].filter(isPublicHost)).toEqual([
    '8.8.8.8',
    '2606:4700::1',
  ]);
  expect(hostOf(new URL('https://[2606:4700::1]/'))).toBe('2606:4700::1');
  expect(hostOf(new URL('https://example.com./'))).toBe('example.com');
});
