import { expect, it } from 'vitest';
import { amountWords, costWords, monthsOf, referencesOf, shareOf } from './budgetDays.ts';

const spent = { epsilon: 1, delta: 0, rho: 0 };
const range = (reference: string, firstDay: string, days: number, leftRatio: number) => ({
  reference,
  firstDay,
  lastDay: firstDay,
  days,
  spent,
  leftRatio,
});

it('referencesOf expands ranges into days, and sorts references by their fullest day', () => {
  const [first, second] = referencesOf({
    ranges: [
      range('calm', '2026-10-01', 2, 0.9),
      range('busy', '2026-10-30', 2, 0.5),
      range('busy', '2026-11-01', 1, 0.1),
    ],
  });
  expect(first).toMatchObject({ reference: 'busy', fullest: { date: '2026-11-01', share: 0.9 } });
  expect(first!.days.map(({ date }) => date)).toEqual(['2026-10-30', '2026-10-31', '2026-11-01']);
  expect(first!.average).toBeCloseTo((0.5 + 0.5 + 0.9) / 3);
  expect(second!.reference).toBe('calm');
});

it('monthsOf fills up months with their other days, newest month first', () => {
  const months = monthsOf([
    { date: '2026-02-27', share: 0.2 },
    { date: '2026-03-01', share: 0.4 },
  ]);
  expect(months.map((days) => [days[0]!.date, days.length])).toEqual([
    ['2026-03-01', 31],
    ['2026-02-01', 28],
  ]);
  expect(months[1]!.filter(({ share }) => share !== undefined)).toEqual([{ date: '2026-02-27', share: 0.2 }]);
});

it('shareOf returns the largest share of a limit, and costWords and amountWords format costs', () => {
  const limit = { epsilon: 10, delta: 1e-6, rho: 0 };
  expect(shareOf({ epsilon: 1, delta: 5e-7, rho: 3 }, limit)).toBe(0.5);
  expect([0, 0.0001, 0.012].map(costWords)).toEqual(['0.0 %', '< 0.1 %', '1.2 %']);
  expect(amountWords({ epsilon: 0.1, delta: 1e-9, rho: 0 })).toBe('ε\u00a00.1, δ\u00a010⁻⁹');
  expect(amountWords({ epsilon: 0, delta: 0, rho: 0 })).toBe('nothing');
});
