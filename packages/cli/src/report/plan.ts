/**
 * `mex report plan`: prints the measurements that a report would create, their cost, and the expected accuracy. The
 * command itself creates nothing.
 */
import { groupText, type Rehearsal, type RehearsedCharge } from '@measurement-exchange/reports';
import { FilterRejected, type PlannedReport } from '@measurement-exchange/sdk';
import type { Command } from 'commander';
import { nextCommand } from '../calls/caller.ts';
import { remote } from '../calls/command.ts';
import { type ActingOptions, withKeys } from '../calls/keys.ts';
import { filterText } from '../party/plan.ts';
import { count, counted } from '../terminal/numbers.ts';
import { note, paint, print, printJson, printTable, visible } from '../terminal/output.ts';
import { actingConsumer, definitionOf } from './choose.ts';
import { figureLabel } from './labels.ts';

export function planCommand(): Command {
  const description = 'print what it would ask and cost, and how exact it would be; nothing is sent';
  return withKeys(remote('plan [definition]', description))
    .addHelpText('after', HELP)
    .action(async (file: string | undefined, options: ActingOptions) => {
      const acting = await actingConsumer(options);
      const { consumer } = acting;
      const definition = await definitionOf(acting, file);
      const planned = await consumer.reports.plan(definition).catch((error: unknown) => {
        throw error instanceof FilterRejected ? new Error(filterText(error)) : error;
      });
      if (options.json) return printJson(planJson(planned));
      printPlan(planned);
      note(`To run it: ${nextCommand(options, ['report run', file ?? ''].join(' ').trim(), options)}`);
    });
}

const HELP = `
The definition is a file of YAML or JSON, the name of a report, or nothing: then all of your event groups are planned, as
mex report define writes them. The charge is exactly what the publishers' ledgers will charge. ± is the half-width of the
95 % interval before the correction, which never makes it larger.`;

function printPlan({ plan, rehearsal, reused, notDue }: PlannedReport): void {
  print(paint('bold', visible(plan.definition.title)));
  const asked = Object.entries(rehearsal.measurements);
  const total = asked.reduce((sum, [, number]) => sum + number, 0);
  const by = asked.map(([protocol, number]) => `${number} ${protocol}`).join(', ');
  print(
    `  ${counted(total, 'measurement')} to ask${by && ` (${by})`} for ${counted(plan.figures.length, 'figure')}`,
  );
  if (reused.size > 0) print(`  ${counted(reused.size, 'answer')} that you have already, for nothing`);
  for (const [reason, keys] of Map.groupBy(notDue, ([, reason]) => reason)) {
    print(paint('yellow', `  ${counted(keys.length, 'question')} not yet: ${visible(reason)}`));
  }
  print('');
  printTable(['figure', '± (95 %)'], figureRows(rehearsal));
  print('');
  if (rehearsal.charges.length === 0) print('It charges nothing.');
  else printTable(['charged to', 'days', 'epsilon', 'delta', 'rho'], chargeRows(rehearsal.charges));
  for (const advice of rehearsal.advice) print(paint('yellow', visible(advice)));
}

function figureRows({ figures }: Rehearsal): string[][] {
  return figures.map(({ figure, halfWidth, misses }) => [
    figureLabel({
      ...{ metric: figure.request.metric, cumulative: figure.request.cumulative ?? false },
      ...{ of: figure.of, period: figure.period, group: figure.group },
    }),
    halfWidth === undefined
      ? 'answered already'
      : `${count(halfWidth)}${misses ? ', more than the precision you ask for' : ''}`,
  ]);
}

/**
 * Returns one row for each data provider, amount and list of days. The row combines all event groups that are charged
 * this amount on each of these days.
 */
function chargeRows(charges: readonly RehearsedCharge[]): string[][] {
  const ofGroups = Map.groupBy(charges, ({ dataProvider, reference, amount }) =>
    JSON.stringify([dataProvider, reference, amount]),
  );
  const rows = [...ofGroups.values()].map((places) => ({
    ...{ dataProvider: places[0]!.dataProvider, amount: places[0]!.amount },
    days: places.map(({ day }) => day).sort(),
  }));
  const same = Map.groupBy(rows, (row) => JSON.stringify(row));
  return [...same.values()].map((groups) => {
    const { dataProvider, amount, days } = groups[0]!;
    const short = (value: number) => (value === 0 ? '' : String(Number(value.toPrecision(3))));
    return [
      `${dataProvider}, each of ${counted(groups.length, 'event group')}`,
      days.length === 1 ? days[0]! : `${days[0]} to ${days.at(-1)}, each of ${counted(days.length, 'day')}`,
      ...[amount.epsilon, amount.delta, amount.rho].map(short),
    ];
  });
}

/**
 * Returns the plan as JSON. Unlike the printed plan, it also contains each planned measurement's parameters, and the
 * key that identifies the measurement in the plan.
 */
function planJson({ plan, rehearsal, reused, notDue }: PlannedReport) {
  return {
    title: plan.definition.title,
    measurements: rehearsal.measurements,
    reused: Object.fromEntries(reused),
    notDue: Object.fromEntries(notDue),
    figures: rehearsal.figures.map(({ figure, halfWidth, misses }) => ({
      ...{ metric: figure.request.metric, of: figure.of, period: figure.period },
      ...{ group: groupText(figure.group), halfWidth, misses },
    })),
    charges: rehearsal.charges.map(({ units: _, id: __, ...charge }) => charge),
    needs: plan.needs.map(({ key, need, params, dataProviders, computed }) => ({
      ...{ key, ...need, params, dataProviders, protocol: computed?.protocol ?? 'direct' },
    })),
    advice: rehearsal.advice,
  };
}
