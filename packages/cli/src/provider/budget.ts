/** `mex provider budget`: shows how much of the privacy budget is left, and which consumers spent the rest. */
import type {
  BudgetReport,
  ConsumerSpending,
  MeasurementSpending,
  SpendingRange,
} from '@measurement-exchange/sdk/provider';
import type { Command } from 'commander';
import { count } from '../terminal/numbers.ts';
import { Failed, print, printJson, printTable } from '../terminal/output.ts';
import { shortTime } from '../terminal/times.ts';
import { amountCells, amountText, shareText } from './amounts.ts';
import { type LedgerOptions, ledgerCommand, withLedger } from './ledgerPath.ts';

/**
 * The maximum number of measurements in the text output, which shows the latest ones. --json prints all measurements.
 */
const LISTED = 10;

export function budgetCommand(): Command {
  return ledgerCommand(
    'budget',
    'show what is left of the privacy budget, and who spent it, also while the agent runs',
  )
    .addHelpText(
      'after',
      `
Geometric (Laplace) noise adds up in epsilon and delta, Gaussian noise in rho; each has a budget of its own. LEFT is the
smallest share that is left of any of them. Days in a row that are spent alike are one line.
The ledger is audited along the way: what does not add up is shown, and ends the command with 1.`,
    )
    .action(show);
}

function show(options: LedgerOptions): Promise<void> {
  return withLedger(options, (ledger, path) => {
    const [report, spending, faults] = [ledger.budget(), ledger.spending(), ledger.audit()];
    if (options.json) printJson({ ledger: path, ...report, spending, faults });
    else showReport(report);
    if (faults.length > 0) throw new Failed(1, `${path} does not add up:\n  ${faults.join('\n  ')}`);
  });
}

function showReport(report: BudgetReport): void {
  const { limit, ranges, consumers, measurements, moreLikeTheLast } = report;
  if (limit) print(`Limit for each reference and day: ${amountText(limit)}`);
  if (ranges.length === 0) {
    print('Nothing is spent yet.');
    return;
  }
  printTable(['REFERENCE', 'FROM', 'TO', 'DAYS', 'EPSILON', 'DELTA', 'RHO', 'LEFT'], ranges.map(rangeRow));
  print('\nThe most that each consumer spent on one reference and day:');
  printTable(['CONSUMER', 'MEASUREMENTS', 'EPSILON', 'DELTA', 'RHO'], consumers.map(consumerRow));
  const shown = measurements.slice(0, LISTED);
  print(
    `\n${shown.length < measurements.length ? `The last ${LISTED} measurements` : 'Measurements'}, and their cost on each day:`,
  );
  printTable(
    ['TIME', 'MEASUREMENT', 'REFERENCES', 'FROM', 'TO', 'EPSILON', 'DELTA', 'RHO'],
    shown.map(measurementRow),
  );
  if (moreLikeTheLast !== undefined) {
    print(`\nAbout ${count(moreLikeTheLast)} more like the last one fit into the budget.`);
  }
}

const EARLIER = '(earlier version)';

function rangeRow({ reference, firstDay, lastDay, days, spent, leftRatio }: SpendingRange): string[] {
  const name = reference || `all ${EARLIER}`;
  return [name, firstDay, lastDay, String(days), ...amountCells(spent), shareText(leftRatio)];
}

function consumerRow({ measurementConsumer, measurements, most }: ConsumerSpending): string[] {
  return [measurementConsumer || EARLIER, String(measurements), ...amountCells(most)];
}

function measurementRow(spending: MeasurementSpending): (string | undefined)[] {
  const { measurement, requisition, askTime, references, firstDay, lastDay, cost } = spending;
  const names = references.map((reference) => reference || `all ${EARLIER}`).join(', ');
  return [shortTime(askTime), measurement ?? requisition, names, firstDay, lastDay, ...amountCells(cost)];
}
