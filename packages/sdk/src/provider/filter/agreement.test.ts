/**
 * Tests that the consumer's check and the provider's check accept the same filters, and give the same reason for
 * rejecting a filter.
 */
import { expect, it } from 'vitest';
import { filterProblem, type PublishedAttribute } from '../../filters/index.ts';
import type { AttributeType } from '../../filters/types.ts';
import { compile } from './evaluator.ts';

const ATTRIBUTES: Record<string, AttributeType> = {
  gender: 'string',
  age: 'int',
  score: 'double',
  weight: 'uint',
  subscriber: 'bool',
  since: 'timestamp',
  'person.name': 'string',
};
const published = Object.entries(ATTRIBUTES).map(
  ([name, type]) => ({ name, type: type.toUpperCase() }) as PublishedAttribute,
);
const listOf = (length: number) => `[${Array.from({ length }, (_, i) => i).join(', ')}]`;

const GOOD = [
  "gender == 'F' && age >= 18",
  'weight == 18446744073709551615u',
  'score < 0.5 || score != score',
  "gender.matches('^F(emale)?$')",
  "person.name.startsWith('An')",
  'subscriber ? age > 10 : age > 20',
  '[1, 2, 3].exists(x, age == x)',
  "{'F': 1}['F'] == age",
  'dyn(age) == 5.0',
  "since < timestamp('2024-01-01T00:00:00Z')",
  'since.getHours() == 2',
  'gender != null && age == null',
  'has(person.name)',
  'true',
  '1 / 0 == 1',
  `age in ${listOf(1000)}`,
  `gender == '${'x'.repeat(32_000)}'`,
  `${'('.repeat(90)}true${')'.repeat(90)}`,
  `${'age + '.repeat(90)} age == 1`,
];
const BAD = [
  '',
  'age ==',
  "gender == 'F",
  'income > 1',
  'person.age == 1',
  'age == 1.0',
  'age',
  'upper(gender) == "F"',
  "since > timestamp('2024-01-01')",
  "gender.matches('(')",
  "gender == '\ud800'",
  `age in ${listOf(1001)}`,
  `gender == '${'x'.repeat(33_000)}'`,
  `${'('.repeat(300)}true${')'.repeat(300)}`,
  `${listOf(300)}.all(a, ${listOf(300)}.all(b, a + b == age))`,
];

it.each([...GOOD, ...BAD].map((filter) => [filter.slice(0, 60), filter]))(
  'consumer and provider have the same result for the filter %s',
  async (_, expression = '') => {
    const here = filterProblem(expression, published);
    const there = await compile({ expression, attributes: ATTRIBUTES }).then(
      () => undefined,
      ({ code, position }) => ({ code, position }),
    );
    expect(here && { code: here.code, position: here.position }).toEqual(there);
    expect(here === undefined).toBe(GOOD.includes(expression));
  },
);
