/** Turns the ledger's ranges into days, so that a calendar can show them. */

import type { BudgetReport, PrivacyAmount } from '@measurement-exchange/sdk/provider';
import { percent } from '../../parts/format.ts';

/** A day of a reference: the share of the day's limit that is spent, in the measure with the least left. */
export interface SpentDay {
  date: string;
  /** From 0 to 1. Undefined if the ledger does not know the limit. */
  share?: number;
}

export interface ReferenceBudget {
  /** Empty for charges of earlier versions, which count against every reference. */
  reference: string;
  days: SpentDay[];
  average: number;
  fullest: { date: string; share: number };
}

const DAY_MS = 86_400_000;

export function referencesOf({ ranges }: Pick<BudgetReport, 'ranges'>): ReferenceBudget[] {
  const byReference = Map.groupBy(ranges, ({ reference }) => reference);
  return [...byReference]
    .map(([reference, ofReference]) => {
      const days = ofReference.flatMap(({ firstDay, days, leftRatio }) =>
        Array.from({ length: days }, (_, i) => ({
          date: dateAt(Date.parse(firstDay) + i * DAY_MS),
          ...(leftRatio !== undefined && { share: 1 - leftRatio }),
        })),
      );
      const shares = days.map(({ share = 0 }: SpentDay) => share);
      const share = Math.max(...shares);
      return {
        reference,
        days,
        average: shares.reduce((sum, each) => sum + each, 0) / shares.length,
        fullest: { date: days[shares.indexOf(share)]!.date, share },
      };
    })
    .sort((a, b) => b.fullest.share - a.fullest.share || (a.reference < b.reference ? -1 : 1));
}

const dateAt = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Returns the months that have one of these days, newest first, each with all of its days. */
export function monthsOf(days: readonly SpentDay[]): SpentDay[][] {
  const known = new Map(days.map((day) => [day.date, day]));
  const months = new Set(days.map(({ date }) => date.slice(0, 7)));
  return [...months]
    .sort()
    .reverse()
    .map((month) => {
      const [year, number] = month.split('-').map(Number) as [number, number];
      const length = new Date(Date.UTC(year, number, 0)).getUTCDate();
      return Array.from({ length }, (_, i) => {
        const date = dateAt(Date.UTC(year, number - 1, i + 1));
        return known.get(date) ?? { date };
      });
    });
}

/** Returns the largest share of the limit that a cost has, over epsilon, delta and rho. */
export function shareOf(cost: PrivacyAmount, limit: PrivacyAmount): number {
  const measures = ['epsilon', 'delta', 'rho'] as const;
  return Math.max(0, ...measures.filter((each) => limit[each] > 0).map((each) => cost[each] / limit[each]));
}

/** A share in percent. A cost that is not 0 never reads as 0. */
export const costWords = (share: number) => (share > 0 && share < 0.0005 ? '< 0.1 %' : percent(share));

const SYMBOLS = { epsilon: 'ε', delta: 'δ', rho: 'ρ' } as const;

/** Such as `ε 0.1, δ 1e-9`. */
export function amountWords(amount: PrivacyAmount): string {
  const parts = (['epsilon', 'delta', 'rho'] as const).flatMap((each) =>
    amount[each] > 0 ? `${SYMBOLS[each]} ${Number(amount[each].toPrecision(4))}` : [],
  );
  return parts.join(', ') || 'nothing';
}
