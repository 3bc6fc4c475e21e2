import { describe, expect, test } from 'vitest';
import type { RangeProto } from '../descriptor/model.ts';
import { Changes, short } from './changes.ts';
import { compareRanges, compareReserved } from './reserved.ts';

describe('a change', () => {
  test('has a message that begins with its path, and states the reason if it is breaking', () => {
    const changes = new Changes();
    changes.add('FIELD_ADDED', 'a.M.f', '(1) was added');
    changes.add('JSON_NAME_CHANGED', 'a.M.f', 'changed');
    expect(changes.list).toEqual([
      { kind: 'FIELD_ADDED', path: 'a.M.f', breaking: false, message: 'a.M.f (1) was added.' },
      {
        kind: 'JSON_NAME_CHANGED',
        path: 'a.M.f',
        breaking: true,
        message: 'a.M.f changed. Readers of JSON no longer find it.',
      },
    ]);
  });

  test('is reported if two values differ, with long values truncated', () => {
    const changes = new Changes();
    changes.differs('SYNTAX_CHANGED', 'a', 'syntax', 'x', 'x');
    expect(changes.list).toEqual([]);
    changes.differs('SYNTAX_CHANGED', 'a', 'syntax', 'x', 'y'.repeat(200));
    expect(changes.list[0]!.message).toBe(`a changed its syntax from x to ${'y'.repeat(100)}….`);
    expect(short('a"b')).toBe('a\\"b');
  });

  test('has a path of at most 1000 characters, truncated at the front', () => {
    const changes = new Changes();
    changes.add('FIELD_ADDED', `x${'a'.repeat(999)}`, 'w');
    changes.add('FIELD_ADDED', `xy${'a'.repeat(999)}`, 'w');
    expect(changes.list.map((c) => c.path)).toEqual([`x${'a'.repeat(999)}`, `…${'a'.repeat(999)}`]);
  });
});

describe('the comparison of reserved numbers and names', () => {
  const lost = (before: RangeProto[] | undefined, after: RangeProto[] | undefined, closed = false) => {
    const changes = new Changes();
    compareRanges('RESERVED_REMOVED', 'a', 'lost', before, after, changes, closed);
    return changes.list.map((c) => c.message.replace(/^a lost (.*?)\. .*$/, '$1'));
  };
  const range = (start: number, end: number) => ({ start, end });

  test.each<[string, RangeProto[], RangeProto[], string[]]>([
    ['nothing for the same range', [range(1, 5)], [range(1, 5)], []],
    ['nothing for a larger range', [range(2, 4)], [range(1, 5)], []],
    ['nothing for the same range in two parts', [range(1, 5)], [range(3, 5), range(1, 3)], []],
    ['nothing for the same range in overlapping parts', [range(1, 5)], [range(1, 4), range(2, 5)], []],
    ['nothing for two ranges joined into one', [range(3, 5), range(1, 3)], [range(1, 5)], []],
    ['a removed range', [range(1, 5)], [], ['1 to 4']],
    ['a range that now starts later', [range(1, 5)], [range(2, 5)], ['1 to 4']],
    ['a range that now ends earlier', [range(1, 5)], [range(1, 4)], ['1 to 4']],
    ['a range that now has a gap', [range(1, 5)], [range(1, 2), range(3, 5)], ['1 to 4']],
    ['a single number that was replaced', [range(7, 8)], [range(8, 9)], ['7']],
    ['one of three ranges', [range(1, 2), range(3, 4), range(5, 6)], [range(1, 2), range(5, 6)], ['3']],
    ['two of three ranges', [range(5, 6), range(1, 2), range(3, 4)], [range(3, 4)], ['1', '5']],
    ['a range that was replaced by a later one', [range(1, 2)], [range(3, 4)], ['1']],
    ['a range without a start that now starts at 1', [{ end: 2 }], [range(1, 2)], ['0 to 1']],
  ])('reports %s: %#', (_title, before, after, expected) => {
    expect(lost(before, after)).toEqual(expected);
  });

  test('accepts missing ranges on either side', () => {
    expect(lost(undefined, [range(1, 2)])).toEqual([]);
    expect(lost([range(1, 2)], undefined)).toEqual(['1']);
    expect(lost([{}], undefined, true)).toEqual(['0']);
  });

  test('includes the end of a range for an enum', () => {
    expect(lost([range(1, 5)], [range(1, 4)], true)).toEqual(['1 to 5']);
    expect(lost([range(1, 5)], [range(1, 3), range(4, 5)], true)).toEqual([]);
    expect(lost([range(3, 3)], [], true)).toEqual(['3']);
    expect(lost([{}], [], true)).toEqual(['0']);
  });

  test('reports each name that is no longer reserved', () => {
    const changes = new Changes();
    compareReserved('a', { reservedName: ['x', 'y'] }, { reservedName: ['y', 'z'] }, changes);
    compareReserved('a', { reservedName: ['v'] }, {}, changes);
    compareReserved('a', {}, { reservedName: ['v'] }, changes);
    expect(changes.list.map((c) => c.message)).toEqual([
      'a no longer reserves the name x. Something new may take it and misread what was written before.',
      'a no longer reserves the name v. Something new may take it and misread what was written before.',
    ]);
  });

  test('reports a range without its end for a message, and with its end for an enum', () => {
    const changes = new Changes();
    compareReserved('a', { reservedRange: [range(1, 2)] }, {}, changes);
    compareReserved('a', { reservedRange: [range(1, 2)] }, {}, changes, true);
    expect(changes.list.map((c) => c.message)).toEqual([
      expect.stringMatching(/^a no longer reserves 1\. /),
      expect.stringMatching(/^a no longer reserves 1 to 2\. /),
    ]);
  });
});
