import type { AgentOptions, Ledger, PrivacyAmount } from '@measurement-exchange/sdk/provider';
import { inSpan } from '@measurement-exchange/server/telemetry';
import type { Command } from 'commander';
import { given, positiveInteger, remote } from '../calls/command.ts';
import { loadCredentials, readEncryptionKeys } from '../connection/credentials.ts';
import { counted } from '../terminal/numbers.ts';
import { Failed, note, paint, print, printJsonLine } from '../terminal/output.ts';
import { StopSignal } from '../terminal/stopSignal.ts';
import { attributesOf } from './attributes.ts';
import { openData, requireSound } from './data.ts';
import { describeEvent, type LoggedEvent } from './describe.ts';
import { type DuchySettings, duchySettingsOf } from './duchies.ts';
import { ledgerOf } from './ledgerPath.ts';
import type { AgentMetrics } from './operations.ts';
import { RUN_HELP } from './runHelp.ts';
import { type Settings, type SettingsOptions, settingsOf } from './settings.ts';

export interface RunOptions extends SettingsOptions {
  once?: boolean;
  json?: boolean;
}

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
  // Import the provider SDK only here, because the help and `mex completion` do not need it.
  const { createAgent, openLedger, publishAttributes } = await import('@measurement-exchange/sdk/provider');
  const settings = await settingsOf(options);
  const metrics = settings.operations && !options.once ? await createMetrics() : undefined;
  const logEvent = options.json ? logJson : logLine();
  const log = (event: LoggedEvent) => {
    metrics?.observe(event);
    logEvent(event);
  };
  const onWarning = (message: string) => log({ type: 'warning', message });
  const { credentials, trust, client } = await loadCredentials({ ...settings, onWarning });
  if (!credentials.name.startsWith('dataProviders/')) {
    throw new Error(`${credentials.name} is no data provider, and has no requisitions.`);
  }
  const references = referencesOf(settings);
  const { budget, path } = await ledgerOf(settings, credentials.name);
  const duchies = await duchySettingsOf(settings, path);
  using stopped = new StopSignal();
  await using opened = new AsyncDisposableStack();
  const data = await openData(settings, opened, { onWarning, signal: stopped.signal });
  if (stopped.signal.aborted) return;
  // Open the ledger after the data, so that a wrong path to the data leaves no new ledger behind.
  const ledger = openLedger(path, budget);
  opened.defer(() => ledger.close());
  requireSound(ledger, path, credentials.name);
  const agent = createAgent({
    ...{ client, credentials, trust, ledger, references, ...data, ...duchies },
    earlierKeys: await Promise.all((settings.earlierIdentities ?? []).map(readEncryptionKeys)),
    ...methodOf(settings),
    trace: inSpan,
    log,
  });
  if (data.events) {
    const attributes = attributesOf(data.events.attributes, settings.attributes);
    const call = { name: credentials.name, attributes, references, signal: stopped.signal };
    // Continue if publishing fails. Consumers use the published attributes only to look up what they can filter by.
    await publishAttributes(client, call).catch((error) => {
      onWarning(`The attributes are not published, and consumers cannot look them up: ${error.message}`);
    });
  }
  warnOfUnconfirmed(references, ledger, onWarning);
  if (!options.json) note(banner(credentials.name, path, budget, options, duchies));
  if (options.once) {
    const { failed } = await agent.once(stopped.signal);
    if (failed > 0)
      throw new Failed(1, `${counted(failed, 'requisition')} could not be fulfilled yet: run it again.`);
    return;
  }
  if (metrics) {
    const { serveOperations } = await import('./operations.ts');
    const operations = await serveOperations(settings.operations!, { agent, ledger, metrics });
    opened.defer(() => operations.stop());
    note(`Health and metrics: ${operations.url}/metrics`);
  }
  await agent.run(stopped.signal);
}

/**
 * Creates the metrics. Their code is imported only here, because it imports an HTTP server that most agents do not use.
 */
async function createMetrics(): Promise<AgentMetrics> {
  const { AgentMetrics } = await import('./operations.ts');
  return new AgentMetrics();
}

function methodOf(settings: Settings) {
  const { noise, maximumFrequencyPerUser, minimumEpsilon, graceHours, concurrency, pollSeconds } = settings;
  const pollMs = pollSeconds && pollSeconds * 1000;
  return given({ noise, maximumFrequencyPerUser, minimumEpsilon, graceHours, concurrency, pollMs });
}

/**
 * Returns the consumers that are allowed to measure the events of each reference (the provider's own ID of an event
 * group). If a demo provider omits the setting `references`, the agent trusts the exchange's data about the provider's
 * event groups (`unchecked`). For any other provider with events, this function throws if `references` or
 * `events.columns.attributes` is missing.
 */
function referencesOf(settings: Settings): AgentOptions['references'] {
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

/**
 * Warns at startup about references that are neither declared in the settings (`served`) nor confirmed in the ledger.
 * The agent holds questions about these references until the provider's operator confirms that the events contain them.
 */
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
