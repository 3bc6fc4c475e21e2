import { describe, expect, test } from 'vitest';
import type { RangeProto } from '../descriptor/model.ts';
import { Changes, short } from './changes.ts';
import { compareRanges, compareReserved } from './reserved.ts';

describe('a change', () => {
  test('is a sentence about its path, with the reason where it breaks', () => {
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

  test('is reported where two values differ, with short names', () => {
    const changes = new Changes();
    changes.differs('SYNTAX_CHANGED', 'a', 'syntax', 'x', 'x');
    expect(changes.list).toEqual([]);
    changes.differs('SYNTAX_CHANGED', 'a', 'syntax', 'x', 'y'.repeat(200));
    expect(changes.list[0]!.message).toBe(`a changed its syntax from x to ${'y'.repeat(100)}….`);
    expect(short('a"b')).toBe('a\\"b');
  });

  test('has a path of at most 1000 characters, cut in front', () => {
    const changes = new Changes();
    changes.add('FIELD_ADDED', `x${'a'.repeat(999)}`, 'w');
    changes.add('FIELD_ADDED', `xy${'a'.repeat(999)}`, 'w');
    expect(changes.list.map((c) => c.path)).toEqual([`x${'a'.repeat(999)}`, `…${'a'.repeat(999)}`]);
  });
});

describe('what is reserved', () => {
  const lost = (before: RangeProto[] | undefined, after: RangeProto[] | undefined, closed = false) => {
    const changes = new Changes();
    compareRanges('RESERVED_REMOVED', 'a', 'lost', before, after, changes, closed);
    return changes.list.map((c) => c.message.replace(/^a lost (.*?)\. .*$/, '$1'));
  };
  const range = (start: number, end: number) => ({ start, end });

  test.each<[string, RangeProto[], RangeProto[], string[]]>([
    ['the same', [range(1, 5)], [range(1, 5)], []],
    ['more', [range(2, 4)], [range(1, 5)], []],
    ['the same in two parts', [range(1, 5)], [range(3, 5), range(1, 3)], []],
    ['the same in parts that overlap', [range(1, 5)], [range(1, 4), range(2, 5)], []],
    ['two in one', [range(3, 5), range(1, 3)], [range(1, 5)], []],
    ['nothing', [range(1, 5)], [], ['1 to 4']],
    ['less at the start', [range(1, 5)], [range(2, 5)], ['1 to 4']],
    ['less at the end', [range(1, 5)], [range(1, 4)], ['1 to 4']],
    ['a gap', [range(1, 5)], [range(1, 2), range(3, 5)], ['1 to 4']],
    ['one number less', [range(7, 8)], [range(8, 9)], ['7']],
    ['one of three', [range(1, 2), range(3, 4), range(5, 6)], [range(1, 2), range(5, 6)], ['3']],
    ['two of three', [range(5, 6), range(1, 2), range(3, 4)], [range(3, 4)], ['1', '5']],
    ['others after it', [range(1, 2)], [range(3, 4)], ['1']],
    ['what begins at 0', [{ end: 2 }], [range(1, 2)], ['0 to 1']],
  ])('is reported as %s: %#', (_title, before, after, expected) => {
    expect(lost(before, after)).toEqual(expected);
  });

  test('may be nothing on either side', () => {
    expect(lost(undefined, [range(1, 2)])).toEqual([]);
    expect(lost([range(1, 2)], undefined)).toEqual(['1']);
    expect(lost([{}], undefined, true)).toEqual(['0']);
  });

  test('of an enum includes the end of a range', () => {
    expect(lost([range(1, 5)], [range(1, 4)], true)).toEqual(['1 to 5']);
    expect(lost([range(1, 5)], [range(1, 3), range(4, 5)], true)).toEqual([]);
    expect(lost([range(3, 3)], [], true)).toEqual(['3']);
    expect(lost([{}], [], true)).toEqual(['0']);
  });

  test('by name is reported by name', () => {
    const changes = new Changes();
    compareReserved('a', { reservedName: ['x', 'y'] }, { reservedName: ['y', 'z'] }, changes);
    compareReserved('a', { reservedName: ['v'] }, {}, changes);
    compareReserved('a', {}, { reservedName: ['v'] }, changes);
    expect(changes.list.map((c) => c.message)).toEqual([
      'a no longer reserves the name x. Something new may take it and misread what was written before.',
      'a no longer reserves the name v. Something new may take it and misread what was written before.',
    ]);
  });

  test('of a message ends before the end of a range, of an enum with it', () => {
    const changes = new Changes();
    compareReserved('a', { reservedRange: [range(1, 2)] }, {}, changes);
    compareReserved('a', { reservedRange: [range(1, 2)] }, {}, changes, true);
    expect(changes.list.map((c) => c.message)).toEqual([
      expect.stringMatching(/^a no longer reserves 1\. /),
      expect.stringMatching(/^a no longer reserves 1 to 2\. /),
    ]);
  });
});
