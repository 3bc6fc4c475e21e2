/** Converts the ledger's ranges of days to single days, for a calendar. */

import type { BudgetReport, PrivacyAmount } from '@measurement-exchange/sdk/provider';
import { percent, privacyText } from '../../format.ts';

/** One day of the budget of an event group reference. */
export interface SpentDay {
  date: string;
  /**
   * The spent share of the day's budget, from 0 to 1. It is the largest of the spent shares of epsilon, delta and rho.
   * Undefined if the ledger has no limit, or no charge for the day.
   */
  share?: number;
}

export interface ReferenceBudget {
  /**
   * The event group reference. Empty for charges from earlier versions of the agent. These charges count against every
   * reference.
   */
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

/** Returns all days of the months that contain one of these days, newest month first. */
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

/** Returns the cost as a share of the limit. It is the largest of the shares of epsilon, delta and rho. */
export function shareOf(cost: PrivacyAmount, limit: PrivacyAmount): number {
  const measures = ['epsilon', 'delta', 'rho'] as const;
  return Math.max(0, ...measures.filter((each) => limit[each] > 0).map((each) => cost[each] / limit[each]));
}

/** Formats a share in percent. A cost above 0 is never shown as 0. */
export const costWords = (share: number) => (share > 0 && share < 0.0005 ? '< 0.1 %' : percent(share));

export const amountWords = (amount: PrivacyAmount) => privacyText(amount) || 'nothing';
