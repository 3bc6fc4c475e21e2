import { expect, it } from 'vitest';
import { spaced } from '../catalog/Tree.tsx';
import { attributeNames } from '../catalog/words.ts';
import { excerpt } from '../filter/ProblemNote.tsx';
import { axisFor, marginText, relative, toEpsilon, toPosition } from './expected.ts';
import { search } from './Groups.tsx';
import { chargeText } from './Summary.tsx';
import { assumedReach } from './useAsk.ts';

it('marginText and relative format the margin of a figure', () => {
  expect(marginText({ figure: 'reach', margin: 1234.4 })).toBe('1,234');
  expect(marginText({ figure: 'reach', margin: 2.345 })).toBe('2.3');
  expect(marginText({ figure: 'watchDurationSeconds', margin: 50 })).toBe('50 s');
  expect(marginText({ figure: 'reach' })).toBe('unknown');
  expect([relative(129, 400_000), relative(1, 1e6)]).toEqual(['0.03 %', '< 0.01 %']);
});

it('axisFor keeps the axis of the preview while the margin fits', () => {
  expect(axisFor(18, undefined)).toBe(100);
  expect(axisFor(90, 100)).toBe(100);
  expect(axisFor(101, 100)).toBe(500);
  expect(axisFor(2, 100)).toBe(10);
});

it('toEpsilon and toPosition use a logarithmic scale', () => {
  expect([toEpsilon(-1), toEpsilon(0), toEpsilon(0.31)]).toEqual([0.1, 1, 2]);
  expect([toPosition(1), toPosition(1000), toPosition(0)]).toEqual([0, 1, -2]);
});

it('chargeText shows the charge per day, and how many such questions the budget allows', () => {
  expect(chargeText(0.0116, 28)).toBe('1.16 % of each of 28 days · about 86 like this');
  expect(chargeText(1.4, 1)).toBe('140 % of 1 day: a publisher would refuse this');
  expect(chargeText(undefined, 3)).toContain('publishers refuse them');
});

it('assumedReach returns about half of the population, and 1,000,000 if it is unknown', () => {
  expect([assumedReach(1_230_000), assumedReach(undefined), assumedReach(1)]).toEqual([
    600_000, 1_000_000, 1,
  ]);
});

it('excerpt places the caret below a short filter, or within the excerpt of a long one', () => {
  expect(excerpt('device = "phone"', 1, 8)).toEqual({ line: '', caret: 7 });
  const { line, caret } = excerpt(`a == 1\n&& ${'b'.repeat(100)} = 2`, 2, 105);
  expect(line[caret]).toBe('=');
  expect(line.startsWith('…b')).toBe(true);
});

it('spaced turns field names into readable labels', () => {
  expect(['brandName', 'brand_name', 'URL', '@type'].map(spaced)).toEqual([
    'Brand name',
    'Brand name',
    'URL',
    '@type',
  ]);
});

const group = (id: string, campaignName: string) => ({
  name: `measurementConsumers/acme/eventGroups/${id}`,
  eventGroupReferenceId: id,
  measurementConsumer: 'measurementConsumers/acme',
  state: 'ACTIVE' as const,
  eventGroupMetadata: { adMetadata: { campaignMetadata: { campaignName } } },
});

it('search finds event groups by campaign, and always includes the picked ones', () => {
  const groups = [group('video', 'Autumn'), group('display', 'Winter')];
  const all = [{ name: 'dataProviders/a', label: 'A', index: 0, groups }];
  const found = (text: string, picked: string[] = []) =>
    search(all, text, new Set(picked)).found.flatMap(({ groups }) =>
      groups.map((of) => of.eventGroupReferenceId),
    );
  expect(found('winter')).toEqual(['display']);
  expect(found('winter', ['video'])).toEqual(['video', 'display']);
  expect(found('spring')).toEqual([]);
  const many = [{ ...all[0]!, groups: Array.from({ length: 250 }, (_, i) => group(`g${i}`, 'Autumn')) }];
  expect(search(many, '', new Set())).toMatchObject({ hidden: 50 });
  const withLast = search(many, '', new Set(['g249']));
  expect(withLast.hidden).toBe(49);
  expect(withLast.found[0]!.groups.at(-1)).toMatchObject({ eventGroupReferenceId: 'g249' });
});

it('attributeNames lists six attributes and counts the others', () => {
  const attributes = Array.from({ length: 8 }, (_, i) => ({ name: `a${i}`, type: 'INT' as const }));
  expect(attributeNames({ ...group('x', ''), attributes })).toBe('a0, a1, a2, a3, a4, a5, 2 more');
  expect(attributeNames(group('x', ''))).toBe('not said');
});
