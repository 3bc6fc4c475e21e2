import { existsSync } from 'node:fs';
import { loadConfig } from '@measurement-exchange/exchange/config';
import type { Spending } from '@measurement-exchange/sdk/provider';
import { Command } from 'commander';
import { findDevParty, readDevFile } from '../devFile.ts';
import { Failed, print, printJson, printTable } from '../output.ts';
import { readProviderConfig } from './config.ts';
import { demoLedger } from './run.ts';

interface BudgetOptions {
  config?: string;
  ledger?: string;
  as?: string;
  json?: boolean;
}

export function budgetCommand(): Command {
  return new Command('budget')
    .description('show what is spent on each reference and day, also while the agent runs')
    .option('--config <file>', 'the settings of the provider, as for run')
    .option('--ledger <file>', 'the ledger itself')
    .option('--as <party>', 'in development: the ledger of this demo provider')
    .option('--json', 'print it as JSON')
    .addHelpText(
      'after',
      `
Geometric (Laplace) noise adds up in epsilon and delta, Gaussian noise in rho; each has a budget of its own.
The ledger is audited along the way: what does not add up is shown, and ends the command with 1.`,
    )
    .action(show);
}

async function show(options: BudgetOptions): Promise<void> {
  const path = await pathOf(options);
  if (!existsSync(path)) throw new Error(`${path} is not there: mex provider run creates it.`);
  const { readLedger } = await import('@measurement-exchange/sdk/provider');
  const ledger = readLedger(path);
  try {
    const [spending, faults] = [ledger.spending(), ledger.audit()];
    if (options.json) printJson({ ledger: path, spending, faults });
    else if (spending.length === 0) print('Nothing is spent yet.');
    else printTable(['REFERENCE', 'DAY', 'EPSILON', 'DELTA', 'RHO'], spending.map(row));
    if (faults.length > 0) throw new Failed(1, `${path} does not add up:\n  ${faults.join('\n  ')}`);
  } finally {
    ledger.close();
  }
}

async function pathOf({ config, ledger, as }: BudgetOptions): Promise<string> {
  if (ledger !== undefined) return ledger;
  if (as !== undefined) {
    const dev = await readDevFile(loadConfig(process.env, { mode: 'development' }).dataDir);
    return demoLedger(findDevParty(dev, as).name);
  }
  const path = config && (await readProviderConfig(config)).ledger;
  if (path) return path;
  throw new Error(
    'Say which ledger: --ledger, or --config with the settings of the provider, or --as in development.',
  );
}

function row({ reference, day, spent }: Spending): string[] {
  return [
    reference || 'all (earlier version)',
    day,
    ...[spent.epsilon, spent.delta, spent.rho].map((n) => (n === 0 ? '0' : String(n))),
  ];
}
