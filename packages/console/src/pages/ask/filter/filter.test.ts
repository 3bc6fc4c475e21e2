import type { EventGroupAttribute } from '@measurement-exchange/contract';
import { filterProblem } from '@measurement-exchange/sdk/filters';
import { expect, it } from 'vitest';
import { literalsOf, offeredAttributes } from './attributes.ts';
import { completionsAt } from './completion.ts';
import { problemOf } from './problems.ts';
import { tokensOf } from './tokens.ts';

const device = {
  name: 'device',
  type: 'STRING',
  exampleValues: ['tv', 'phone'],
} satisfies EventGroupAttribute;
const age = { name: 'age', type: 'INT', exampleValues: ['18', '35'] } satisfies EventGroupAttribute;
const gender = { name: 'gender', type: 'STRING', exampleValues: ['F'] } satisfies EventGroupAttribute;
const STREAMLY = { dataProvider: 'dataProviders/streamly', attributes: [device, age, gender] };
const CHIRPER = {
  dataProvider: 'dataProviders/chirper',
  attributes: [{ ...device, exampleValues: ['tv', 'desktop'] }],
};
const GROUPS = [STREAMLY, CHIRPER];
const OFFERED = offeredAttributes(GROUPS);

/** Returns the labels of the completions at the `|`, and the text that results if the user accepts the first one. */
function complete(marked: string): [labels: string[], text: string | undefined] {
  const caret = marked.indexOf('|');
  const text = marked.slice(0, caret) + marked.slice(caret + 1);
  const { from, to, items } = completionsAt(text, caret, OFFERED);
  const [first] = items;
  return [items.map(({ label }) => label), first && text.slice(0, from) + first.insert + text.slice(to)];
}

it('offeredAttributes merges the attributes of publishers, and lists the publishers of each', () => {
  expect(OFFERED.map(({ name, publishers }) => [name, publishers.length])).toEqual([
    ['device', 2],
    ['age', 1],
    ['gender', 1],
  ]);
  expect(OFFERED[0]!.exampleValues).toEqual(['tv', 'phone', 'desktop']);
});

it.each<[string, string[], string | undefined]>([
  ['|', ['device', 'age', 'gender'], 'device == '],
  ['g|', ['gender', 'age'], 'gender == '],
  ['device == "tv" && a|', ['age'], 'device == "tv" && age '],
  ['ge|nder', ['gender', 'age'], 'gender == '],
  ['age|', ['>=', '>', '<=', '<', '==', '!=', 'in'], 'age >= '],
  ['device |', ['==', '!=', 'in'], 'device == '],
  ['device == |', ['"tv"', '"phone"', '"desktop"'], 'device == "tv"'],
  ['device == "p|', ['"phone"'], 'device == "phone"'],
  ['device == "p|"', ['"phone"'], 'device == "phone"'],
  ['device == ph|', ['"phone"'], 'device == "phone"'],
  ['device in ["tv", |', ['"phone"', '"desktop"'], 'device in ["tv", "phone"'],
  ['device == "tv" |', ['&&', '||'], 'device == "tv" && '],
  ['(age >= |', ['18', '35'], '(age >= 18'],
  ['device == "tv"|', [], undefined],
])('completes %s', (marked, labels, text) => {
  expect(complete(marked)).toEqual([labels, text]);
});

it('literalsOf formats example values by type, and skips values that do not fit the type', () => {
  expect(literalsOf({ name: 'a', type: 'STRING', exampleValues: ['say "hi" \\ bye'] })).toEqual([
    '"say \\"hi\\" \\\\ bye"',
  ]);
  expect(literalsOf({ name: 'a', type: 'DOUBLE', exampleValues: ['2', '2.5', 'many'] })).toEqual([
    '2.0',
    '2.5',
  ]);
  expect(literalsOf({ name: 'a', type: 'UINT', exampleValues: ['2', '-2'] })).toEqual(['2u']);
});

it.each<[string, string, string | undefined]>([
  ['device = "phone"', 'Compare with ==, not =.', 'device == "phone"'],
  ['device == "tv" and age > 30', 'Combine with &&, not and.', 'device == "tv" && age > 30'],
  ['device == phone', 'Put text in quotes.', 'device == "phone"'],
  ['devcie == "phone"', 'There is no attribute devcie.', 'device == "phone"'],
  ['device == "phone', 'The text has no closing quote.', 'device == "phone"'],
  ['device.startWith("p")', 'There is no function startWith.', 'device.startsWith("p")'],
])('suggests a fix for %s', (text, message, mended) => {
  const problem = problemOf(text, GROUPS, filterProblem);
  expect([problem?.message, problem?.fix?.text]).toEqual([message, mended]);
});

it('accepts a valid filter, and an empty one', () => {
  expect(problemOf('device == "phone" && device != "tv"', GROUPS, filterProblem)).toBeUndefined();
  expect(problemOf('  ', GROUPS, filterProblem)).toBeUndefined();
});

it('names the publishers that do not have an attribute', () => {
  expect(problemOf('age > 30', GROUPS, filterProblem)).toMatchObject({
    publishers: ['dataProviders/chirper'],
    line: 1,
    column: 1,
  });
});

it('checks only the syntax if no publisher lists its attributes', () => {
  const silent = [{ dataProvider: 'dataProviders/a' }];
  expect(problemOf('anything == 1', silent, filterProblem)).toBeUndefined();
  expect(problemOf('anything = 1', silent, filterProblem)?.fix?.text).toBe('anything == 1');
});

it('tokensOf splits a text without losing a character', () => {
  for (const text of ['', '😀 "a\\"b', "x.y. == 'z", 'a\n\n&& | @', '"\\']) {
    expect(
      tokensOf(text)
        .map((token) => token.text)
        .join(''),
    ).toBe(text);
  }
});
