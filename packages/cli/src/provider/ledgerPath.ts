/** Finds a provider's ledger, and opens it for read-only commands, which can run at the same time as the agent. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { loadConfig } from '@measurement-exchange/exchange/config';
import { DEVELOPMENT_BUDGET } from '@measurement-exchange/sdk';
import type { LedgerReader } from '@measurement-exchange/sdk/provider';
import { Command } from 'commander';
import { findDevParty, readOwnDevFile } from '../files/devFile.ts';
import { readProviderConfig } from './config.ts';
import type { Settings } from './settings.ts';

export interface LedgerOptions {
  config?: string;
  ledger?: string;
  as?: string;
  json?: boolean;
}

export function ledgerCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--config <file>', 'the settings of the provider, as for run')
    .option('--ledger <file>', 'the ledger itself')
    .option('--as <party>', 'in development: the ledger of this demo provider')
    .option('--json', 'print it as JSON');
}

export async function withLedger(
  options: LedgerOptions,
  read: (ledger: LedgerReader, path: string) => void,
): Promise<void> {
  const path = await namedLedger(options);
  if (!existsSync(path)) throw new Error(`${path} is not there: mex provider run creates it.`);
  await openLedger(path, (ledger) => read(ledger, path));
}

export async function openLedger<T>(path: string, read: (ledger: LedgerReader) => T): Promise<T> {
  const { readLedger } = await import('@measurement-exchange/sdk/provider');
  const ledger = readLedger(path);
  try {
    return read(ledger);
  } finally {
    ledger.close();
  }
}

/** Returns the path of the ledger that the options select. The file need not exist. */
export async function namedLedger({ config, ledger, as }: LedgerOptions): Promise<string> {
  if (ledger !== undefined) return ledger;
  if (as !== undefined) return demoLedger(findDevParty(await readOwnDevFile(), as).name);
  const path = config && (await readProviderConfig(config)).ledger;
  if (path) return path;
  throw new Error(
    'Say which ledger: --ledger, or --config with the settings of the provider, or --as in development.',
  );
}

export async function ledgerOf(settings: Settings, provider: string) {
  const { budget, ledger, as } = settings;
  if (as !== undefined)
    return { budget: budget ?? DEVELOPMENT_BUDGET, path: ledger ?? (await demoLedger(provider)) };
  if (budget === undefined) {
    throw new Error('Say in --config what may be spent: "budget": {"epsilon": …, "delta": …, "rho": …}.');
  }
  if (ledger === undefined) throw new Error('Say where the ledger is: --ledger, or "ledger" in --config.');
  return { budget, path: ledger };
}

export async function demoLedger(provider: string): Promise<string> {
  const { dataDir } = loadConfig(process.env, { mode: 'development' });
  const path = join(dataDir, 'ledgers', `${provider.split('/').at(-1)}.sqlite`);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return path;
}
