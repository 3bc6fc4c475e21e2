/** Reports the remaining budget and each consumer's spending. Only the provider's operator may see these figures. */
import type { DatabaseSync } from 'node:sqlite';
import {
  addUnits,
  budgetInUnits,
  excessUnits,
  fromUnits,
  largerUnits,
  leftRatio,
  MEASURES,
  NOTHING,
  type PrivacyAmount,
  type SlicedAmounts,
  type Units,
} from '@measurement-exchange/mpc/charges';
import type { SliceRow } from './slices.ts';
import { ANY_REFERENCE } from './tables.ts';
import { type Total, unitRows, WorstOf, worstTotals } from './worstTotals.ts';

/** Consecutive days on which the same amount of privacy budget was spent on an event group reference. */
export interface SpendingRange {
  /** Empty for charges from schema 1, which stored no references. These charges count against every reference. */
  reference: string;
  firstDay: string;
  lastDay: string;
  days: number;
  /** The largest amount that was spent on any one person on each of the days. */
  spent: PrivacyAmount;
  /**
   * The remaining budget of each day. Absent if the limit is unknown. `leftRatio` is the smallest of the remaining
   * fractions of epsilon, delta, and rho.
   */
  left?: PrivacyAmount;
  leftRatio?: number;
}

/** The privacy budget that one consumer spent. */
export interface ConsumerSpending {
  /** Empty for charges from earlier versions of the agent, which did not record the consumer. */
  measurementConsumer: string;
  measurements: number;
  /** The largest amount that the consumer spent on any one person, for one event group reference and one day. */
  most: PrivacyAmount;
}

/** The privacy budget that one measurement spent. */
export interface MeasurementSpending {
  requisition: string;
  /** Absent for charges from earlier versions of the agent, which did not record the measurement. */
  measurement?: string;
  askTime?: string;
  references: string[];
  firstDay: string;
  lastDay: string;
  /** The number of charges. Each charge is for one event group reference, one day, and one slice of people. */
  charges: number;
  /** The cost of one charge. If the charges differ, `cost` has the highest epsilon, delta, and rho of all charges. */
  cost: PrivacyAmount;
}

export interface BudgetReport {
  /** The budget for each event group reference and day. Undefined if no agent has stored its budget in the ledger. */
  limit: PrivacyAmount | undefined;
  ranges: SpendingRange[];
  consumers: ConsumerSpending[];
  /** The latest measurements, newest first. */
  measurements: MeasurementSpending[];
  /** False if the ledger has charged more measurements than `measurements` contains. */
  hasAllMeasurements: boolean;
  /**
   * How many times the latest measurement could be repeated within the remaining budget. Undefined if nothing was
   * charged, or if the limit is unknown.
   */
  moreLikeTheLast: number | undefined;
}

const MAX_MEASUREMENTS = 1000;

export function budgetReport(database: DatabaseSync): BudgetReport {
  const limit = storedBudget(database);
  const measurements = measurementSpending(database);
  const [last] = measurements;
  return {
    limit,
    ranges: spendingRanges(database, limit),
    consumers: consumerSpending(database),
    measurements: measurements.slice(0, MAX_MEASUREMENTS),
    hasAllMeasurements: measurements.length <= MAX_MEASUREMENTS,
    moreLikeTheLast: limit && last && repetitions(database, last.requisition, budgetInUnits(limit)),
  };
}

/** Returns the budget of the agent that last used the ledger. */
function storedBudget(database: DatabaseSync): PrivacyAmount | undefined {
  const row = database.prepare("SELECT value FROM settings WHERE key = 'budget'").get();
  return row && JSON.parse(String(row.value));
}

/**
 * Returns the spent budget and the remaining budget of each event group reference. Consecutive days with equal amounts
 * form one range.
 */
export function spendingRanges(database: DatabaseSync, limit: PrivacyAmount | undefined): SpendingRange[] {
  const totals = worstTotals(database);
  const common = new Map(
    totals.filter(({ reference }) => reference === ANY_REFERENCE).map((total) => [total.day, total]),
  );
  const ranges: SpendingRange[] = [];
  for (const total of totals) {
    const { reference, day, units } = total;
    // Charges without a reference count against every reference and every person, so add them to the sum of each
    // reference.
    const shared = reference === ANY_REFERENCE ? NOTHING : (common.get(day)?.units ?? NOTHING);
    const left = limit && fromUnits(excessUnits(budgetInUnits(limit), addUnits(units, shared)));
    const range = {
      ...{ reference, firstDay: day, lastDay: day, days: 1, spent: fromUnits(units) },
      ...(left && { left, leftRatio: leftRatio(left, limit) }),
    };
    const before = ranges.at(-1);
    if (before && continues(before, range)) {
      before.lastDay = day;
      before.days++;
    } else ranges.push(range);
  }
  return ranges;
}

const DAY_MS = 86_400_000;

function continues(before: SpendingRange, after: SpendingRange): boolean {
  const isNextDay = Date.parse(after.firstDay) - Date.parse(before.lastDay) === DAY_MS;
  const isSame = (a: PrivacyAmount | undefined, b: PrivacyAmount | undefined) =>
    MEASURES.every((measure) => a?.[measure] === b?.[measure]);
  const sameAmounts = isSame(before.spent, after.spent) && isSame(before.left, after.left);
  return before.reference === after.reference && isNextDay && sameAmounts;
}

/**
 * SQL expression: the consumer's name, which is the part of a measurement's name before `/measurements/`. The
 * expression gives an empty text if the measurement is NULL.
 */
const CONSUMER = "coalesce(substr(measurement, 1, instr(measurement, '/measurements/') - 1), '')";

function consumerSpending(database: DatabaseSync): ConsumerSpending[] {
  const counts = unitRows<{ consumer: string; measurements: bigint }>(
    database,
    `SELECT ${CONSUMER} AS consumer, count(DISTINCT requisition) AS measurements
     FROM charges LEFT JOIN questions USING (requisition) GROUP BY consumer ORDER BY consumer`,
  );
  const rows = unitRows<SliceRow & { consumer: string; reference: string; day: string }>(
    database,
    `SELECT ${CONSUMER} AS consumer, reference, day, slice,
       sum(epsilon) AS epsilon, sum(delta) AS delta, sum(rho) AS rho
     FROM charges LEFT JOIN questions USING (requisition) GROUP BY consumer, reference, day, slice`,
  );
  const worst = new WorstOf(database);
  const most = new Map<string, Units>();
  for (const [, own] of Map.groupBy(
    rows,
    ({ consumer, reference, day }) => `${day} ${consumer} ${reference}`,
  )) {
    const { consumer } = own[0]!;
    most.set(consumer, largerUnits(most.get(consumer) ?? NOTHING, worst.of(own).units));
  }
  return counts.map(({ consumer, measurements }) => ({
    measurementConsumer: consumer,
    measurements: Number(measurements),
    most: fromUnits(most.get(consumer)!),
  }));
}

function measurementSpending(database: DatabaseSync): MeasurementSpending[] {
  type Row = Units &
    Record<'requisition' | 'reference_list' | 'first_day' | 'last_day', string> & {
      measurement: string | null;
      asked_at: string | null;
      charges: bigint;
    };
  const rows = unitRows<Row>(
    database,
    `SELECT requisition, measurement, asked_at, json_group_array(DISTINCT reference) AS reference_list,
       min(day) AS first_day, max(day) AS last_day, count(*) AS charges,
       max(epsilon) AS epsilon, max(delta) AS delta, max(rho) AS rho
     FROM charges LEFT JOIN questions USING (requisition)
     GROUP BY requisition ORDER BY asked_at DESC, requisition DESC LIMIT ${MAX_MEASUREMENTS + 1}`,
  );
  return rows.map((row) => ({
    requisition: row.requisition,
    ...(row.measurement !== null && { measurement: row.measurement }),
    ...(row.asked_at !== null && { askTime: row.asked_at }),
    references: JSON.parse(row.reference_list),
    firstDay: row.first_day,
    lastDay: row.last_day,
    charges: Number(row.charges),
    cost: fromUnits(row),
  }));
}

/**
 * Returns how many times a requisition could be charged again before the limit is reached. Returns undefined if its
 * charges are all 0.
 */
function repetitions(database: DatabaseSync, requisition: string, limit: Units): number | undefined {
  const charges = unitRows<SliceRow & Pick<Total, 'reference' | 'day'>>(
    database,
    'SELECT * FROM charges WHERE requisition = ?',
    requisition,
  );
  const worst = new WorstOf(database);
  const totals = new Map(worstTotals(database).map((total) => [`${total.day} ${total.reference}`, total]));
  const none: SlicedAmounts = new Map();
  const spentOn = (reference: string, day: string, slice: string) =>
    worst.sums.worst(totals.get(`${day} ${reference}`)?.amounts ?? none, slice);
  const counts = charges.flatMap((cost) => {
    const { reference, day } = cost;
    const slice = worst.textOf(cost.slice);
    const shared = reference === ANY_REFERENCE ? NOTHING : spentOn(ANY_REFERENCE, day, slice);
    const left = excessUnits(limit, addUnits(spentOn(reference, day, slice), shared));
    return MEASURES.filter((measure) => cost[measure] > 0n).map((measure) =>
      Number(left[measure] / cost[measure]),
    );
  });
  return counts.length === 0 ? undefined : Math.min(...counts);
}
