import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { toPlainJson } from '@measurement-exchange/contract';
import { loadConfig } from '@measurement-exchange/exchange/config';
import type {
  AgentOptions,
  Events,
  EventsConfig,
  Ledger,
  PopulationSpec,
  PrivacyAmount,
} from '@measurement-exchange/sdk/provider';
import { inSpan } from '@measurement-exchange/server/telemetry';
import type { Command } from 'commander';
import { given, positiveInteger, remote } from '../calls/command.ts';
import { loadCredentials, readEncryptionKeys } from '../connection/credentials.ts';
import { readJson } from '../files/input.ts';
import { counted } from '../terminal/numbers.ts';
import { Failed, note, paint, print, printJsonLine } from '../terminal/output.ts';
import { StopSignal } from '../terminal/stopSignal.ts';
import type { ProviderConfig } from './config.ts';
import { describeEvent, type LoggedEvent } from './describe.ts';
import { type DuchySettings, duchySettingsOf } from './duchies.ts';
import { RUN_HELP } from './runHelp.ts';
import { type SettingsOptions, settingsOf } from './settings.ts';

export interface RunOptions extends SettingsOptions {
  once?: boolean;
  json?: boolean;
}

/** The development budget: large enough to experiment with, but small enough to run out. */
const DEMO_BUDGET: PrivacyAmount = { epsilon: 10, delta: 1e-6, rho: 1 };

export function runCommand(): Command {
  const collect = (value: string, earlier: string[] = []) => [...earlier, value];
  return remote('run', 'fulfill or refuse requisitions, until it is stopped')
    .option('--config <file>', 'the settings of a provider, in JSON (see below); options override it')
    .option(
      '--events <file>',
      'a Parquet or CSV file with events, once for each; patterns are allowed',
      collect,
    )
    .option('--population <file>', 'a JSON file with the virtual population')
    .option('--identity <dir>', 'the folder that mex identity made')
    .option('--root <file>', 'a root to trust, once for each: root.pem, or party=root.pem', collect)
    .option('--ledger <file>', 'where the spent budget and the responses are stored')
    .option('--concurrency <count>', 'how many requisitions to process concurrently (2)', positiveInteger)
    .option('--once', 'process the open requisitions once, and exit')
    .addHelpText('after', RUN_HELP)
    .action((options: RunOptions) => run(options));
}

async function run(options: RunOptions): Promise<void> {
  // Import this package only here, because DuckDB would use memory in all other commands, such as `mex serve`.
  const { createAgent, openLedger, openPopulation } = await import('@measurement-exchange/sdk/provider');
  const settings = await settingsOf(options);
  const log = options.json ? logJson : logLine();
  const onWarning = (message: string) => log({ type: 'warning', message });
  const { credentials, trust, client } = await loadCredentials({ ...settings, onWarning });
  if (!credentials.name.startsWith('dataProviders/')) {
    throw new Error(`${credentials.name} is no data provider, and has no requisitions.`);
  }
  const { noise, maximumFrequencyPerUser, minimumEpsilon, graceHours, concurrency, pollSeconds } = settings;
  const references = referencesOf(settings);
  const { budget, path } = await ledgerOf(settings, credentials.name);
  const duchies = await duchySettingsOf(settings, path);
  const ledger = openLedger(path, budget);
  const served = new Set<string>();
  const events = eventsOf(settings, onWarning, async (opened) => {
    // In development, privacy is not at stake, so the references in the files need no confirmation.
    if (settings.as === undefined) return;
    for (const { reference } of await opened.inventory()) served.add(reference);
  });
  using stopped = new StopSignal();
  try {
    const agent = createAgent({
      client,
      credentials,
      trust,
      ledger,
      references,
      served,
      earlierKeys: await Promise.all((settings.earlierIdentities ?? []).map(readEncryptionKeys)),
      ...(settings.events && { events: events.open }),
      ...(settings.population && { population: openPopulation(await readPopulation(settings.population)) }),
      ...duchies,
      ...given({ noise, maximumFrequencyPerUser, minimumEpsilon, graceHours, concurrency }),
      ...(pollSeconds && { pollMs: pollSeconds * 1000 }),
      trace: inSpan,
      log,
    });
    warnOfUnconfirmed(references, ledger, onWarning);
    if (!options.json) note(banner(credentials.name, path, budget, options, duchies));
    if (!options.once) return await agent.run(stopped.signal);
    const { failed } = await agent.once(stopped.signal);
    if (failed > 0)
      throw new Failed(1, `${counted(failed, 'requisition')} could not be fulfilled yet: run it again.`);
  } finally {
    await events.close();
    ledger.close();
  }
}

/**
 * Returns the consumers that may ask about each reference's events. Only demo parties trust the references that the
 * exchange stores in event groups.
 */
function referencesOf(settings: ProviderConfig & { as?: string }): AgentOptions['references'] {
  const { as, events, references } = settings;
  if (as !== undefined) return references ?? 'unchecked';
  if (events === undefined) return references ?? {};
  if (references === undefined) {
    throw new Error(
      'Say in --config who may ask about which events, by the values of their column event_group: ' +
        '"references": {"spring": {"measurementConsumers": ["measurementConsumers/acme"]}}.',
    );
  }
  if (events.columns?.attributes === undefined) {
    throw new Error(
      'Say in --config which columns consumers may filter by (none: []): ' +
        '"events": {"files": …, "columns": {"attributes": ["age", "country"]}}.',
    );
  }
  return references;
}

/** Warns at startup about unconfirmed references, because questions about them are held. */
function warnOfUnconfirmed(
  references: AgentOptions['references'],
  ledger: Ledger,
  onWarning: (message: string) => void,
): void {
  if (references === 'unchecked') return;
  const names = Object.keys(references).filter(
    (name) => !references[name]!.served && !ledger.isConfirmed(name),
  );
  if (names.length === 0) return;
  onWarning(
    `Nobody has confirmed that the events have ${names.slice(0, 10).join(', ')}: questions about them are held. ` +
      'Look at them with mex provider check, and confirm them with --confirm.',
  );
}

async function ledgerOf(settings: ProviderConfig & { as?: string }, provider: string) {
  const { budget, ledger, as } = settings;
  if (as !== undefined)
    return { budget: budget ?? DEMO_BUDGET, path: ledger ?? (await demoLedger(provider)) };
  if (budget === undefined) {
    throw new Error('Say in --config what may be spent: "budget": {"epsilon": …, "delta": …, "rho": …}.');
  }
  if (ledger === undefined) throw new Error('Say where the ledger is: --ledger, or "ledger" in --config.');
  return { budget, path: ledger };
}

/** Returns the path of a demo provider's ledger, which is in the development exchange's data directory. */
export async function demoLedger(provider: string): Promise<string> {
  const { dataDir } = loadConfig(process.env, { mode: 'development' });
  const path = join(dataDir, 'ledgers', `${provider.split('/').at(-1)}.sqlite`);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return path;
}

/** Opens the events when they are first needed. If that fails, the next call tries again, since files may appear later. */
function eventsOf(
  { events }: ProviderConfig,
  onWarning: (message: string) => void,
  onOpened: (events: Events) => Promise<void>,
) {
  let opened: Promise<Events> | undefined;
  return {
    open: () => {
      opened ??= openConfigured({ ...events!, onWarning }, onOpened).catch((error) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}

async function openConfigured(
  config: EventsConfig,
  onOpened: (events: Events) => Promise<void>,
): Promise<Events> {
  const { openEvents } = await import('@measurement-exchange/sdk/provider');
  const events = await openEvents(config);
  try {
    await onOpened(events);
    return events;
  } catch (error) {
    await events.close();
    throw error;
  }
}

async function readPopulation(path: string): Promise<PopulationSpec> {
  return toPlainJson(await readJson(path, 'the virtual population in JSON')) as PopulationSpec;
}

function logJson(event: LoggedEvent): void {
  printJsonLine({ time: new Date().toISOString(), ...event });
}

function logLine(): (event: LoggedEvent) => void {
  const describe = describeEvent();
  return (event) => {
    const line = describe(event, Date.now());
    if (line !== undefined) print(`${paint('dim', new Date().toISOString().slice(11, 19))}  ${line}`);
  };
}

function banner(
  provider: string,
  ledger: string,
  budget: PrivacyAmount,
  { once }: RunOptions,
  { shareShuffle, liquidLegions }: DuchySettings,
): string {
  const { epsilon, delta, rho } = budget;
  const names = new Set([shareShuffle, liquidLegions].flatMap((each) => Object.keys(each?.duchies ?? {})));
  const duchies = names.size > 0 ? `  Duchies ${[...names].join(', ')}\n` : '';
  return `${paint('bold', provider, process.stderr)} processes its requisitions${once ? ' once' : '; Ctrl-C stops it'}.
  Ledger  ${ledger}
  Budget  epsilon ${epsilon}, delta ${delta}, rho ${rho} for a reference and day
${duchies}`;
}
