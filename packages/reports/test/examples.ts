/** Five reports that analysts typically ask for. */
import type { ReportDefinition } from '../src/index.ts';
import { definitionOf, surroundingsOf } from './worlds.ts';

const attributes = { age: ['young', 'middle', 'old'], sex: ['f', 'm'] };
export const surroundings = surroundingsOf('honestMajorityShareShuffle', {
  population: 1_000_000,
  attributes,
});
const three = {
  all: 'a | b | c',
  onlyA: 'a - (b | c)',
  onlyB: 'b - (a | c)',
  onlyC: 'c - (a | b)',
  common: 'a & b & c',
};
const incremental = { ...three, bBeyondA: 'b - a', cBeyond: 'c - (a | b)' };

export const EXAMPLES: [name: string, ReportDefinition][] = [
  [
    'three publishers',
    definitionOf(3, {
      sets: three,
      figures: [{ metric: 'reach', of: ['a', 'b', 'c', ...Object.keys(three)] }],
    }),
  ],
  [
    'cumulative weekly reach',
    definitionOf(3, {
      sets: three,
      figures: [{ metric: 'reach', of: ['all'], periods: 'weekly(MONDAY)', cumulative: true }],
    }),
  ],
  [
    'reach by age and sex',
    definitionOf(2, {
      sets: { all: 'a | b' },
      groups: { g: { by: ['age', 'sex'] } },
      figures: [
        { metric: 'reach', of: ['all'], groups: 'g' },
        { metric: 'reach', of: ['all'] },
      ],
    }),
  ],
  [
    'incremental reach',
    definitionOf(3, {
      sets: incremental,
      figures: [{ metric: 'reach', of: ['a', 'bBeyondA', 'cBeyond', 'all'] }],
    }),
  ],
  [
    'exclusive reach with a small budget',
    definitionOf(3, {
      sets: three,
      figures: [{ metric: 'reach', of: ['common', 'onlyA', 'onlyB', 'onlyC'] }],
      budget: { rho: 1e-5, delta: 1e-9 },
    }),
  ],
];
