import type { Spending } from '@measurement-exchange/sdk/provider';
import type { Command } from 'commander';
import { Failed, print, printJson, printTable } from '../terminal/output.ts';
import { type LedgerOptions, ledgerCommand, withLedger } from './ledgerPath.ts';

export function budgetCommand(): Command {
  return ledgerCommand('budget', 'show what is spent on each reference and day, also while the agent runs')
    .addHelpText(
      'after',
      `
Geometric (Laplace) noise adds up in epsilon and delta, Gaussian noise in rho; each has a budget of its own.
The ledger is audited along the way: what does not add up is shown, and ends the command with 1.`,
    )
    .action(show);
}

function show(options: LedgerOptions): Promise<void> {
  return withLedger(options, (ledger, path) => {
    const [spending, faults] = [ledger.spending(), ledger.audit()];
    if (options.json) printJson({ ledger: path, spending, faults });
    else if (spending.length === 0) print('Nothing is spent yet.');
    else printTable(['REFERENCE', 'DAY', 'EPSILON', 'DELTA', 'RHO'], spending.map(row));
    if (faults.length > 0) throw new Failed(1, `${path} does not add up:\n  ${faults.join('\n  ')}`);
  });
}

function row({ reference, day, spent }: Spending): string[] {
  return [
    reference || 'all (earlier version)',
    day,
    ...[spent.epsilon, spent.delta, spent.rho].map((n) => (n === 0 ? '0' : String(n))),
  ];
}
