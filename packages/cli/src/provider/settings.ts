/** A provider's settings, from a file and from command options. */
import { given } from '../calls/command.ts';
import { type ProviderConfig, readProviderConfig } from './config.ts';

export interface SettingsOptions {
  config?: string;
  as?: string;
  url?: string;
  token?: string;
  identity?: string;
  root?: string[];
  events?: string[];
  population?: string;
  ledger?: string;
  concurrency?: number;
}

export type Settings = ProviderConfig & { as?: string; token?: string };

export async function settingsOf(options: SettingsOptions): Promise<Settings> {
  const file = options.config === undefined ? {} : await readProviderConfig(options.config);
  const { as, token, url, identity, ledger, population, concurrency, root, events } = options;
  const settings = {
    ...file,
    ...given({ as, token, url, identity, ledger, population, concurrency, roots: root }),
    ...(events && { events: { ...file.events, source: undefined, files: events } }),
  };
  if (!settings.events && !settings.population) {
    throw new Error('Say which data to use: --events with Parquet or CSV files, --population, or --config.');
  }
  return settings;
}
