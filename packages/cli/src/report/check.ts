/** `mex report check`: recomputes every figure from the signed results, and compares it with the stored report. */
import type { ReportCheck } from '@measurement-exchange/sdk';
import type { Command } from 'commander';
import type { ActingOptions } from '../calls/keys.ts';
import { counted } from '../terminal/numbers.ts';
import { Failed, paint, print, printJson, visible } from '../terminal/output.ts';
import { ofReport } from './choose.ts';

export function checkCommand(): Command {
  const description =
    'verify every signed result again, recompute every figure, and compare with the stored ones';
  return ofReport<ActingOptions>('check', description, async ({ consumer, name }, options) => {
    const check = await consumer.reports.check(name);
    const { answer, ...found } = check;
    if (options.json) printJson({ name, state: answer.document.state, ...found });
    else printCheck(check);
    if (isFine(check)) return;
    throw new Failed(2, `${name} is not what the signed results say.`);
  }).addHelpText(
    'after',
    '\nExit code: 2 where a result is rejected, or a stored figure differs; 0 where all of it holds.',
  );
}

const isFine = ({ differences, rejected }: ReportCheck) => differences.length + rejected.length === 0;

function printCheck({ answer, isStored, differences, rejected }: ReportCheck): void {
  const verified = answer.needs.filter(({ state }) => state === 'SUCCEEDED');
  const measurements = new Set(verified.map(({ measurement }) => measurement));
  print(
    `${mark(rejected.length === 0)} ${counted(measurements.size, 'measurement')}: each asks what the report needs, and its results have valid signatures`,
  );
  for (const { measurement, reason } of rejected) print(`    ${visible(`${measurement}: ${reason}`)}`);
  if (!isStored) print('– No answer is stored: mex report run stores one.');
  else {
    const { length } = answer.document.figures;
    print(
      `${mark(differences.length === 0)} ${counted(length, 'figure')} recomputed, ${differences.length} differ from the stored ones`,
    );
  }
  for (const { figure, stored = 'not there', computed = 'not there' } of differences) {
    print(`    ${visible(`${figure}: stored ${stored}, recomputed ${computed}`)}`);
  }
  const [worst] = answer.document.fits;
  if (worst)
    print(
      `${mark(worst.state === 'CONSISTENT')} the answers ${worst.state === 'CONSISTENT' ? 'agree' : 'contradict each other'} (p = ${worst.p.toPrecision(2)})`,
    );
}

const mark = (isGood: boolean) => (isGood ? paint('green', '✓') : paint('red', '✗'));
