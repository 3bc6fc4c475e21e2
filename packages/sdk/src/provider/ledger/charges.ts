/** Charges against a budget, and the refusal where they do not fit. */
import { RefusalError, type RefusalPlace } from '../../refusals/refusalError.ts';
import { fromUnits, type Measure, type PrivacyAmount, type Units } from './amounts.ts';

/** The cost of a result for the events of one reference on one UTC day. */
export interface Charge {
  /** The value that selects the rows in the provider's own data, whatever the exchange calls their event group. */
  reference: string;
  /** `2026-07-28` */
  day: string;
  cost: Units;
  /** Where the specification selects the day, for a refusal. */
  at?: RefusalPlace;
}

/** The budget of a reference and day does not cover what a result costs. */
export class InsufficientBudget extends RefusalError {
  override readonly name = 'InsufficientBudget';
  readonly reference: string;
  readonly day: string;
  readonly left: PrivacyAmount;

  constructor({ reference, day, cost, at }: Charge, left: Units, short: Measure) {
    super(
      'BUDGET_EXCEEDED',
      `${reference} on ${day}: this costs ${short} ${fromUnits(cost)[short]}, ` +
        `and ${fromUnits(left)[short]} of its budget is left.`,
      { at },
    );
    this.reference = reference;
    this.day = day;
    this.left = fromUnits(left);
  }
}
