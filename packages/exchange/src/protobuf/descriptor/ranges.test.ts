import { describe, expect, test } from 'vitest';
import { Path, Report } from './model.ts';
import {
  checkEnumRanges,
  checkMessageRanges,
  enumRanges,
  fieldNumberFault,
  messageRanges,
} from './ranges.ts';

const violationsOf = (check: (path: Path, report: Report) => void) => {
  const report = new Report();
  check(new Path('m', 0), report);
  return report.violations.map((v) => `${v.field.slice('m[0].'.length)} ${v.description}`);
};
const ofMessage = (proto: object) => violationsOf((path, report) => checkMessageRanges(proto, path, report));
const ofEnum = (proto: object) => violationsOf((path, report) => checkEnumRanges(proto, path, report));

describe('the ranges of a message', () => {
  const ranges = messageRanges({
    extensionRange: [
      { start: 100, end: 200 },
      { start: 10, end: 20 },
    ],
    reservedRange: [{ start: 1, end: 3 }, { start: 50, end: 51 }, { end: 1 }],
  });

  test.each([
    [0, 'reserved'],
    [1, 'reserved'],
    [2, 'reserved'],
    [3, undefined],
    [9, undefined],
    [10, 'extension'],
    [19, 'extension'],
    [20, undefined],
    [50, 'reserved'],
    [51, undefined],
    [100, 'extension'],
    [199, 'extension'],
    [200, undefined],
    [-1, undefined],
  ])('classify %d as %s', (number, kind) => {
    expect(ranges.kindOf(number)).toBe(kind);
  });

  test('may lack reserved ranges, extension ranges or both', () => {
    expect(messageRanges({}).kindOf(1)).toBeUndefined();
    expect(messageRanges({ reservedRange: [{ start: 1, end: 2 }] }).kindOf(1)).toBe('reserved');
    expect(messageRanges({ extensionRange: [{ start: 1, end: 2 }] }).kindOf(1)).toBe('extension');
  });

  test('must not be empty, and must be between 1 and 536870911', () => {
    const wrong = 'must run from 1 or above to at most 536870911';
    expect(ofMessage({ reservedRange: [{ start: 1, end: 536_870_912 }] })).toEqual([]);
    expect(ofMessage({ reservedRange: [{ start: 1, end: 536_870_913 }] })).toEqual([
      `reservedRange[0] ${wrong}`,
    ]);
    expect(ofMessage({ extensionRange: [{ start: 1, end: 2 }, { end: 1 }] })).toEqual([
      `extensionRange[1] ${wrong}`,
    ]);
    expect(ofMessage({ extensionRange: [{ start: 4, end: 4 }] })).toEqual([`extensionRange[0] ${wrong}`]);
    expect(ofMessage({ extensionRange: [{ start: 4 }] })).toEqual([`extensionRange[0] ${wrong}`]);
  });

  test('may touch but not overlap, in any order', () => {
    const touching = [
      { start: 5, end: 9 },
      { start: 1, end: 5 },
    ];
    expect(ofMessage({ reservedRange: touching })).toEqual([]);
    expect(ofMessage({ reservedRange: [...touching, { start: 8, end: 10 }] })).toEqual([
      'reservedRange[2] overlaps reservedRange[0]',
    ]);
    expect(ofMessage({ reservedRange: touching, extensionRange: [{ start: 4, end: 5 }] })).toEqual([
      'extensionRange[0] overlaps reservedRange[1]',
    ]);
  });
});

describe('the ranges of an enum', () => {
  test('include both ends, and may be negative', () => {
    const ranges = enumRanges({ reservedRange: [{ start: -3, end: -1 }, { start: 2, end: 2 }, {}] });
    expect([-4, -3, -1, 0, 1, 2, 3].map((n) => ranges.kindOf(n))).toEqual([
      undefined,
      'reserved',
      'reserved',
      'reserved',
      undefined,
      'reserved',
      undefined,
    ]);
    expect(enumRanges({}).kindOf(0)).toBeUndefined();
  });

  test('must not end before they start, and must not overlap', () => {
    expect(ofEnum({})).toEqual([]);
    expect(ofEnum({ reservedRange: [{ start: 2, end: 2 }] })).toEqual([]);
    expect(ofEnum({ reservedRange: [{ start: 2, end: 1 }] })).toEqual([
      'reservedRange[0] ends before it starts',
    ]);
    expect(
      ofEnum({
        reservedRange: [
          { start: 1, end: 2 },
          { start: 2, end: 3 },
        ],
      }),
    ).toEqual(['reservedRange[1] overlaps reservedRange[0]']);
  });
});

test('a field number must be from 1 to 536870911, but not from 19000 to 19999', () => {
  const range = 'must be from 1 to 536870911';
  const reserved = 'must not be from 19000 to 19999, which protobuf reserves';
  expect([0, 1, 18_999, 19_000, 19_999, 20_000, 536_870_911, 536_870_912].map(fieldNumberFault)).toEqual([
    range,
    undefined,
    undefined,
    reserved,
    reserved,
    undefined,
    undefined,
    range,
  ]);
});
