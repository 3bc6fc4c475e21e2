/** Creates and prints the findings of `mex duchy check`. */
import { paint, print, visible } from '../../terminal/output.ts';

export interface Finding {
  /** The subject of the check, such as `database`. */
  check: string;
  /**
   * A problem keeps the duchy from taking part. A warning may become a problem later, or is normal before the first
   * start.
   */
  state: 'ok' | 'warning' | 'problem';
  message: string;
}

type Make = (message: string) => Finding;

export function findingsOf(check: string): Record<Finding['state'], Make> {
  const make = (state: Finding['state']) => (message: string) => ({ check, state, message });
  return { ok: make('ok'), warning: make('warning'), problem: make('problem') };
}

const STYLES = { ok: 'green', warning: 'yellow', problem: 'red' } as const;

export function printFindings(findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { check, state, message } of findings) {
    // Replace control characters, because the message may quote text from the exchange or another party.
    const [first, ...more] = message.split('\n').map(visible);
    print(`${paint(STYLES[state], state.padEnd(7))}  ${check.padEnd(width)}  ${first}`);
    for (const line of more) print(`${' '.repeat(width + 11)}${line}`);
  }
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  const number = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`;
  print(
    problems === 0
      ? paint('green', `Nothing is wrong${warnings === 0 ? '' : `; ${number(warnings, 'warning')}`}.`)
      : paint('red', `${number(problems, 'problem')}, ${number(warnings, 'warning')}.`),
  );
}
