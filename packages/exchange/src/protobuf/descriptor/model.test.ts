import { describe, expect, test } from 'vitest';
import { fullName, nameFault, Path, quote, Report } from './model.ts';

describe('a report of violations', () => {
  const fieldOf = (path: Path | string, member: string) => {
    const report = new Report();
    report.add(path, member, 'is wrong');
    return report.violations[0]!.field;
  };

  test('names the path and the member of a violation, either of which may be empty', () => {
    const at = new Path('field', 2, new Path('messageType', 1, new Path('file', 0)));
    expect(fieldOf(at, 'number')).toBe('file[0].messageType[1].field[2].number');
    expect(fieldOf(at, '')).toBe('file[0].messageType[1].field[2]');
    expect(fieldOf('', 'file')).toBe('file');
    expect(fieldOf('', '')).toBe('');
  });

  test('truncates a long path at the front, because its end identifies the element', () => {
    expect(fieldOf('a'.repeat(298), 'b')).toBe(`${'a'.repeat(298)}.b`);
    expect(fieldOf('a'.repeat(299), 'b')).toBe(`…${'a'.repeat(298)}.b`);
  });

  test('is full with 20 violations, and ignores further ones', () => {
    const report = new Report();
    for (let i = 0; i < 19; i++) report.add('', `${i}`, 'is wrong');
    expect(report.full).toBe(false);
    report.add('', '19', 'is wrong');
    expect(report.full).toBe(true);
    report.add('', '20', 'is wrong');
    expect(report.violations.map((v) => v.field)).toEqual(Array.from({ length: 20 }, (_, i) => `${i}`));
  });
});

describe('a name', () => {
  test('is quoted, and truncated after 100 characters', () => {
    expect(quote('a"b')).toBe('"a\\"b"');
    expect(quote('a'.repeat(100))).toBe(`"${'a'.repeat(100)}"`);
    expect(quote('a'.repeat(101))).toBe(`"${'a'.repeat(100)}…"`);
  });

  test.each(['a', '_', 'A9_', 'a'.repeat(512)])('may be %s', (name) => {
    expect(nameFault(name)).toBeUndefined();
  });

  test.each([
    ['', 'is required'],
    ['a'.repeat(513), 'is longer than 512 characters'],
    ['9a', '"9a" is not an identifier'],
    ['a.b', '"a.b" is not an identifier'],
    [' a', '" a" is not an identifier'],
    ['a\n', '"a\\n" is not an identifier'],
  ])('may not be %j: %s', (name, fault) => {
    expect(nameFault(name)).toBe(fault);
  });

  test('is qualified with its scope, and has no leading dot at the root', () => {
    expect(fullName('', 'M')).toBe('M');
    expect(fullName('a.b', 'M')).toBe('a.b.M');
  });
});
