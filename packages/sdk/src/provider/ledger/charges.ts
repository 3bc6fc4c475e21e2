/** Defines a charge against the budget, and the error for a charge that exceeds the budget. */

import { fromUnits, type Measure, type PrivacyAmount, type Units } from '@measurement-exchange/mpc/charges';
import { RefusalError, type RefusalPlace } from '../../refusals/refusalError.ts';

/** The cost of a result for the events of one event group reference on one UTC day, for the people in `slice`. */
export interface Charge {
  /**
   * The event group reference, which selects rows in the provider's data. Event groups with the same reference share a
   * budget.
   */
  reference: string;
  /** A UTC day such as `2026-07-28`. */
  day: string;
  /** The people whose events can change the result, as text (see `sliceText`). Default: everybody. */
  slice?: string;
  cost: Units;
  /**
   * The day's position in the requisition spec, such as `events[0], day 31`. A refusal's message contains this
   * position.
   */
  at?: RefusalPlace;
}

/** Thrown if the remaining budget of an event group reference for a day is smaller than the cost of a result. */
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
