import { JsonDecimal, parseJson } from '@measurement-exchange/contract';
import { describe, expect, test } from 'vitest';
import { checkSetJson, inspectJson, jsonText } from './json.ts';
import { Report } from './model.ts';

function inspect(...file: unknown[]) {
  const report = new Report();
  const options = checkSetJson({ file }, report);
  return { violations: report.violations.map((v) => `${v.field} ${v.description}`), options };
}

describe('checkSetJson', () => {
  test('accepts either name of a member, null for an absent value, strings as numbers, and enums by name or number', () => {
    const field = { name: 'f', number: '1', type: 'TYPE_INT32', json_name: null, oneofIndex: 0 };
    const good = {
      messageType: [{ field: [field, { ...field, type: 5, number: 2, jsonName: 'j' }] }],
      message_type: [],
      public_dependency: [0, '1'],
      dependency: ['a'],
      options: { javaStringCheckUtf8: false, optimize_for: 'SPEED' },
    };
    expect(inspect(good, {})).toEqual({ violations: [], options: [] });
  });

  test.each<[string, object, string]>([
    ['an array instead of an object', { options: [] }, 'options must be an object'],
    ['a string instead of an object', { options: 'x' }, 'options must be an object'],
    ['an object instead of an array', { dependency: {} }, 'dependency must be an array'],
    ['a number in an array of strings', { dependency: ['a', 1] }, 'dependency[1] must be a string'],
    [
      'a boolean as a number',
      { publicDependency: [true] },
      'publicDependency[0] must be a number or a string',
    ],
    ['null in an array', { publicDependency: [null] }, 'publicDependency[0] must be a number or a string'],
    ['a number as a boolean', { options: { deprecated: 1 } }, 'options.deprecated must be a boolean'],
    ['an unknown enum number', { edition: 12_345 }, 'edition "12345" is not a value of Edition'],
    ['a boolean as an enum', { edition: true }, 'edition must be a number or a string'],
    ['an array item that is not an object', { service: [{}, 7] }, 'service[1] must be an object'],
    [
      'an unknown member in an array',
      { service: [{ method: [{ options: { x: 1 } }] }] },
      'service[0].method[0].options.x is not a known field',
    ],
    ['text before brackets', { options: { 'x[a.b]': 1 } }, 'options.x[a.b] is not a known field'],
    ['text after brackets', { options: { '[a.b]x': 1 } }, 'options.[a.b]x is not a known field'],
    [
      'a number as bytes',
      { options: { uninterpretedOption: [{ stringValue: 1 }] } },
      'options.uninterpretedOption[0].stringValue must be a string',
    ],
    ['an opening bracket only', { options: { '[a.b': 1 } }, 'options.[a.b is not a known field'],
    ['a closing bracket only', { options: { 'a.b]': 1 } }, 'options.a.b] is not a known field'],
  ])('rejects %s', (_title, file, violation) => {
    expect(inspect({}, file).violations).toEqual([`file[1].${violation}`]);
  });

  test('returns the custom options, each with its path', () => {
    const { options } = inspect({ service: [{ options: { '[a.b]': 1, deprecated: true } }] });
    expect(options.map((o) => [`${o.path}`, o.member, o.extendee, o.name])).toEqual([
      ['file[0].service[0]', 'options.[a.b]', 'google.protobuf.ServiceOptions', 'a.b'],
    ]);
  });

  test('reports at most 20 violations, even within one object', () => {
    const wrong = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`x${i}`, 1]));
    expect(inspect(wrong).violations).toHaveLength(20);
  });
});

describe('the inspection of JSON', () => {
  const limits = { maxMessages: 3, maxDepth: 2 };
  const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

  test('counts objects toward the limit, but not arrays', () => {
    expect(inspectJson([{}, [], {}, [[]], {}], limits).exceeds).toBe(false);
    expect(inspectJson([{}, {}, {}, {}], limits).exceeds).toBe(true);
    expect(inspectJson({ a: { b: {} } }, limits).exceeds).toBe(false);
    expect(inspectJson({ a: { b: {} }, c: {} }, limits).exceeds).toBe(true);
  });

  test('allows twice as many levels as messages may nest, because each message may be in an array', () => {
    expect(inspectJson(nested(4), limits).exceeds).toBe(false);
    expect(inspectJson(nested(5), limits).exceeds).toBe(true);
    expect(inspectJson(null, limits)).toEqual({ exceeds: false, exact: false });
  });

  test('detects bigint and JsonDecimal numbers', () => {
    expect(inspectJson({ a: [1, 'x', true, null] }, limits).exact).toBe(false);
    expect(inspectJson({ a: [2n ** 60n] }, limits).exact).toBe(true);
    expect(inspectJson(parseJson('[1.5e400]'), limits).exact).toBe(true);
    expect(inspectJson([new JsonDecimal('1.5')], limits).exact).toBe(true);
  });

  test('returns text only if it has no more bytes than allowed', () => {
    for (const json of [
      'abc',
      'é\n',
      12,
      null,
      [],
      {},
      ['ab', 'c', 1, null, true],
      { ab: ['c', { d: 'e' }] },
    ]) {
      const text = JSON.stringify(json);
      const bytes = Buffer.byteLength(text);
      expect(jsonText(json, bytes)).toBe(text);
      expect(jsonText(json, bytes - 1)).toBeUndefined();
    }
    // The printer must stop at the limit. The whole text has 1 GB and would use up the memory.
    expect(jsonText(Array(1_000_000).fill('x'.repeat(1_000)), 1_000_000)).toBeUndefined();
    expect(jsonText(Array(1_000_000).fill({ ['x'.repeat(1_000)]: 1 }), 1_000_000)).toBeUndefined();
  });
});
