/** Summarizes the charges of a report for each publisher. */
import { DEVELOPMENT_BUDGET, MEASURES, type PrivacyAmount } from '@measurement-exchange/mpc/charges';
import type { Plan, RehearsedCharge } from '@measurement-exchange/reports';
import type { ChargeView } from './types.ts';

/**
 * Returns the number of charged days and the highest daily charge for each publisher. Both are 0 for a publisher
 * without a charge.
 */
export function chargeViews(
  { needs }: Pick<Plan, 'needs'>,
  charges: readonly RehearsedCharge[],
): ChargeView[] {
  const providers = new Set(needs.flatMap(({ dataProviders }) => dataProviders));
  return [...providers].map((dataProvider) => {
    const own = charges.filter((charge) => charge.dataProvider === dataProvider);
    return {
      dataProvider,
      days: new Set(own.map(({ day }) => day)).size,
      share: Math.max(0, ...own.map(({ amount }) => shareOf(amount))),
    };
  });
}

function shareOf(amount: PrivacyAmount): number {
  return Math.max(...MEASURES.map((measure) => amount[measure] / DEVELOPMENT_BUDGET[measure]));
}
