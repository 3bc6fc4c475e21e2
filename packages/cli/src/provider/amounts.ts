/** Formats privacy amounts as readable text. */
import type { PrivacyAmount } from '@measurement-exchange/sdk/provider';

export const MEASURES = ['epsilon', 'delta', 'rho'] as const;

/** Lists the measures that are not 0, for example `epsilon 0.1, delta 1e-9`. */
export function amountText(amount: PrivacyAmount): string {
  const parts = MEASURES.filter((measure) => amount[measure] > 0).map(
    (measure) => `${measure} ${amount[measure]}`,
  );
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

/** Rounds amounts to four significant digits, so that a table fits into a terminal. --json prints all digits. */
export const amountCells = (amount: PrivacyAmount) =>
  MEASURES.map((measure) => String(Number(amount[measure].toPrecision(4))));

/** Formats a share of the budget. Rounds down, so that an unspent share of 100 % means that nothing is spent. */
export function shareText(ratio: number | undefined): string {
  return ratio === undefined ? '' : `${Math.floor(ratio * 1000 + 1e-9) / 10} %`;
}
