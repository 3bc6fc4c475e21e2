/** Prints the demo's report to the terminal. Its tables fit into 80 columns. */
import { resolve } from 'node:path';
import { count } from '../terminal/numbers.ts';
import { paint, print, printTable } from '../terminal/output.ts';
import {
  type DemoMeasurement,
  type DemoReport,
  type Figure,
  figuresOf,
  rangeText,
  reachesTogether,
  shortName,
  signedPercent,
  TOGETHER,
  textOf,
  truthIs,
} from './figures.ts';
import { ABOUT_PRIVACY } from './privacy.ts';

export function printReport(report: DemoReport, files: { report: string; csv: string }): void {
  for (const measurement of report.measurements) printMeasurement(measurement);
  print(`\n${paint('bold', 'People counted once, by the protocol of the duchies')}`);
  printTable(
    ['  protocol', ...COLUMNS],
    reachesTogether(report).map((reach) => [`  ${reach.protocol}`, ...cellsOf(reach)]),
  );
  printCampaign(report);
  const figures = figuresOf(report);
  const inside = figures.filter(({ inside95 }) => inside95).length;
  const near = figures.filter(({ within5Sigma }) => within5Sigma).length;
  print(`
${inside} of ${figures.length} figures have the truth inside of their 95 % interval,
${near} within five standard deviations. It took ${report.seconds.toFixed(1)} s.

${wrapped(ABOUT_PRIVACY)}

  Charts   ${resolve(files.report)}
  Figures  ${resolve(files.csv)}

${headline(report)}`);
}

/** Prints the reach and the average frequency from the campaign report, in which no figure contradicts another. */
function printCampaign({ campaign }: DemoReport): void {
  const { title, state, figures, derived } = campaign;
  print(`\n${paint('bold', `${title}: one report, in which no figure contradicts another`)}  ${state}`);
  const frequencies = derived.filter(({ name }) => name === 'average frequency');
  const people = figures.filter(({ metric }) => metric === 'frequency');
  const rows = people.map(({ of, estimate }) => {
    const average = frequencies.find((figure) => figure.of === of)?.value;
    return [
      `  ${of}`,
      estimate ? count(estimate.value) : 'missing',
      estimate ? `${count(estimate.low)} … ${count(estimate.high)}` : '',
      average ? average.value.toFixed(2) : '',
    ];
  });
  printTable(['  reach of', 'people', '95 % interval', 'times each'], rows);
}

const COLUMNS = ['truth', 'result', '95 % interval', 'truth is'];

function printMeasurement({ title, about, name, protocol, figures, failure }: DemoMeasurement): void {
  print(`\n${paint('bold', title)}\n${paint('dim', `  ${name}`)}`);
  if (failure !== undefined) {
    print(`  refused, as it should be:\n${wrapped(failure)}`);
    return;
  }
  if (protocol !== undefined) print(`  counted once by ${protocol}`);
  if (about !== undefined) print(wrapped(about));
  // Leave out a column if its cells would be empty, or would only repeat the title.
  const ofSeveral = figures.some(({ of }) => of !== TOGETHER);
  const several = new Set(figures.map(({ what }) => what)).size > 1;
  const added = figures.some(({ claimed }) => claimed !== undefined);
  const optional = <T>(has: boolean, value: T) => (has ? [value] : []);
  const indented = ([first, ...rest]: string[]) => [`  ${first}`, ...rest];
  printTable(
    indented([
      ...optional(ofSeveral, 'provider'),
      ...optional(several, 'figure'),
      ...COLUMNS,
      ...optional(added, 'added up'),
    ]),
    figures.map((figure) =>
      indented([
        ...optional(ofSeveral, shortName(figure.of)),
        ...optional(several, figure.what),
        ...cellsOf(figure),
        ...optional(added, figure.claimed === undefined ? '' : textOf(figure)(figure.claimed)),
      ]),
    ),
  );
}

function cellsOf(figure: Figure): string[] {
  const { truth, result } = figure;
  const text = textOf(figure);
  return [text(truth), text(result.value), rangeText(result.interval, text, '…'), truthIs(figure)];
}

function headline(report: DemoReport): string {
  const { result, truth, claimed, inside95 } = reachesTogether(report)[0]!;
  const value = paint(inside95 ? 'green' : 'yellow', `${count(result.value)} people`);
  return `All publishers together reached ${paint('bold', value)}, each counted once
(95 %: ${rangeText(result.interval, count)}; truth ${count(truth)}).
Adding up their figures would have claimed ${count(claimed)}, ${signedPercent(claimed / truth - 1)}.`;
}

const WIDTH = 78;

/** Breaks text into indented lines. */
function wrapped(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    if (lines.at(-1)!.length + word.length >= WIDTH) lines.push('');
    lines[lines.length - 1] += ` ${word}`;
  }
  return lines.map((line) => ` ${line}`).join('\n');
}
