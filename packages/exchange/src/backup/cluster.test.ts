import { expect, it } from 'vitest';
import { segmentsBetween } from './cluster.ts';

const MIB = 1024 * 1024;

it('segmentsBetween lists all WAL segments from the first to the last, even if the log number changes', () => {
  expect(segmentsBetween('0000000300000000000000FE', '000000030000000100000001', 16 * MIB)).toEqual([
    '0000000300000000000000FE',
    '0000000300000000000000FF',
    '000000030000000100000000',
    '000000030000000100000001',
  ]);
  expect(segmentsBetween('00000001000000000000003F', '000000010000000100000000', 64 * MIB)).toEqual([
    '00000001000000000000003F',
    '000000010000000100000000',
  ]);
  const one = '000000010000000000000002';
  expect(segmentsBetween(one, one, 16 * MIB)).toEqual([one]);
});
