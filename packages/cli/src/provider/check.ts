/**
 * `mex provider check`: describes the provider's events. With --confirm, also confirms references (the provider's own
 * IDs of event groups). The ledger stores the confirmed references, and the agent answers questions about them.
 */
import { existsSync } from 'node:fs';
import { DEVELOPMENT_BUDGET } from '@measurement-exchange/sdk';
import type { Events, ReferenceInventory, References } from '@measurement-exchange/sdk/provider';
import { Command } from 'commander';
import { given } from '../calls/command.ts';
import { paint, print, printJson, printTable, visible } from '../terminal/output.ts';
import { openPopulationFile, verifyEvents } from './data.ts';
import { eventsConfig } from './eventsConfig.ts';
import { showOverview, showQuestions, typicalQuestions } from './inventory.ts';
import { type LedgerOptions, namedLedger, openLedger } from './ledgerPath.ts';
import { type Settings, settingsOf } from './settings.ts';

interface CheckOptions extends LedgerOptions {
  events?: string[];
  population?: string;
  /** The event group references to confirm, or `true` if --confirm was given without references. */
  confirm?: true | string[];
}

interface CheckedReference extends Omit<ReferenceInventory, 'firstDay' | 'lastDay'> {
  firstDay?: string;
  lastDay?: string;
  /**
   * The consumers that are allowed to measure the events with this reference. Absent if the settings have no
   * `references`. Without `references`, a demo provider's agent allows every consumer that the exchange allows.
   */
  measurementConsumers?: readonly string[];
  /** `DEVELOPMENT` if a demo provider serves the reference only because it occurs in the events. */
  served: 'DECLARED' | 'CONFIRMED' | 'DEVELOPMENT' | 'NO';
}

export function checkCommand(): Command {
  const collect = (value: string, earlier: string[] = []) => [...earlier, value];
  return new Command('check')
    .description('check the events, show what they have and what questions cost, and confirm the references')
    .option('--config <file>', 'the settings of the provider, as for run')
    .option('--events <file>', 'a Parquet or CSV file with events, once for each', collect)
    .option('--population <file>', 'a JSON file with the virtual population, to find VIDs outside of it')
    .option('--ledger <file>', 'the ledger that keeps what is confirmed')
    .option('--as <party>', 'in development: the ledger of this demo provider')
    .option(
      '--confirm [references...]',
      'confirm these references; without names, all that have rows and that somebody may ask about',
    )
    .option('--json', 'print it as JSON')
    .addHelpText(
      'after',
      `
An agent answers questions about references that its operator declared ("served": true in the settings) or confirmed
here. Questions about others are held, and charge nothing: a misspelled reference, or the wrong events, would otherwise be
answered with a figure near zero. Whether a reference has rows is not looked at when a question comes, since an answer
that depends on it would tell of a single person. So a reference without rows is answered, too, once it is confirmed by
name.

The rows are counted exactly, for you alone: nothing is sent, and nothing is charged. The agent may be running; it answers
what it holds within half a minute.`,
    )
    .action(check);
}

async function check(options: CheckOptions): Promise<void> {
  const settings = await settingsOf(options);
  if (settings.events === undefined) {
    throw new Error('Say which events to look at: --events with Parquet or CSV files, or --config.');
  }
  const ledger = await namedLedger(options);
  const { overview, found } = await readEvents(settings);
  const budget = settings.budget ?? (settings.as === undefined ? undefined : DEVELOPMENT_BUDGET);
  const questions = budget ? await typicalQuestions(budget, given({ noise: settings.noise })) : [];
  const before = listOf(found, settings, await confirmedIn(ledger));
  const confirmed = options.confirm ? toConfirm(before, options.confirm, settings.references) : [];
  if (confirmed.length > 0) {
    const { confirmReferences } = await import('@measurement-exchange/sdk/provider');
    confirmReferences(ledger, confirmed);
  }
  const references = listOf(found, settings, await confirmedIn(ledger));
  if (options.json) return printJson({ ledger, events: overview, questions, references, confirmed });
  showOverview(overview, settings);
  showQuestions(questions);
  print('');
  show(references, confirmed);
}

async function readEvents({ events: config, population, attributes }: Settings) {
  const ranges = population === undefined ? undefined : (await openPopulationFile(population)).ranges;
  const { openEvents } = await import('@measurement-exchange/sdk/provider');
  const events: Events = await openEvents(await eventsConfig(config!, attributes));
  try {
    await verifyEvents(events);
    const overview = await events.overview({ population: ranges });
    return { overview, found: await events.inventory() };
  } finally {
    await events.close();
  }
}

async function confirmedIn(ledger: string): Promise<Set<string>> {
  if (!existsSync(ledger)) return new Set();
  const confirmed = await openLedger(ledger, (reader) => reader.confirmedReferences());
  return new Set(confirmed.map(({ reference }) => reference));
}

function listOf(
  found: ReferenceInventory[],
  { as, references }: Pick<Settings, 'as' | 'references'>,
  confirmed: ReadonlySet<string>,
): CheckedReference[] {
  const names = new Set(found.map(({ reference }) => reference));
  const empty = [...Object.keys(references ?? {}), ...confirmed].filter((reference) => !names.has(reference));
  const absent = [...new Set(empty)].map((reference) => ({ reference, rows: 0, days: 0 }));
  return [...found, ...absent].map((each) => {
    const { reference } = each;
    const access = references && Object.hasOwn(references, reference) ? references[reference] : undefined;
    const isDemo = as !== undefined && references === undefined && each.rows > 0;
    const unconfirmed = isDemo ? 'DEVELOPMENT' : 'NO';
    const served = access?.served ? 'DECLARED' : confirmed.has(reference) ? 'CONFIRMED' : unconfirmed;
    const { measurementConsumers = [] } = access ?? {};
    return { ...each, ...(references && { measurementConsumers }), served };
  });
}

function toConfirm(
  listed: CheckedReference[],
  names: true | string[],
  references: References | undefined,
): string[] {
  const mayBeAsked = ({ measurementConsumers }: CheckedReference) => measurementConsumers?.length !== 0;
  if (names === true) {
    return listed
      .filter((each) => each.rows > 0 && each.served === 'NO' && mayBeAsked(each))
      .map(({ reference }) => reference);
  }
  const unknown = names.find((name) => references && !Object.hasOwn(references, name));
  if (unknown === undefined) return names;
  throw new Error(`references in --config does not have ${unknown}: nobody may ask about it.`);
}

function show(references: CheckedReference[], confirmed: string[]): void {
  if (references.length === 0) {
    print('The events have no reference, and the settings name none.');
    return;
  }
  printTable(['REFERENCE', 'ROWS', 'DAYS', 'FROM', 'TO', 'WHO MAY ASK', 'SERVED'], references.map(row));
  if (confirmed.length > 0) print(paint('green', `Confirmed: ${confirmed.map(visible).join(', ')}.`));
  const askable = references.filter(({ measurementConsumers }) => measurementConsumers?.length !== 0);
  const waiting = askable.filter(({ served }) => served === 'NO');
  const empty = askable.filter(({ rows }) => rows === 0);
  for (const { reference } of empty) {
    print(
      paint('yellow', `${visible(reference)} has no rows: see that it is spelled as in the events, or that`),
    );
    print(paint('yellow', '  these are all the events. If there are no rows yet, confirm it by name.'));
  }
  if (waiting.length > 0) {
    print(`Questions about ${waiting.length} of them are held until you confirm them: --confirm.`);
  }
}

const SERVED = {
  DECLARED: 'declared',
  CONFIRMED: 'confirmed',
  DEVELOPMENT: 'in development',
  NO: 'not confirmed',
} as const;

function row(each: CheckedReference): (string | undefined)[] {
  const { reference, rows, days, firstDay, lastDay, measurementConsumers, served } = each;
  const who = measurementConsumers?.map((name) => name.split('/').at(-1)).join(', ') ?? 'anybody';
  return [reference, String(rows), String(days), firstDay, lastDay, who || 'nobody', SERVED[served]];
}
