/** Finds the report or definition that a user chooses. The user types the path of a file, a name, or an ID. */
import type { ReportDefinition } from '@measurement-exchange/reports';
import type { Consumer, ExchangeClient, StoredReport } from '@measurement-exchange/sdk';
import type { Command } from 'commander';
import { nameBelow } from '../calls/caller.ts';
import { remote } from '../calls/command.ts';
import { type ActingOptions, consumerOf, withKeys } from '../calls/keys.ts';
import { chosenGroups, idOf } from '../party/described.ts';
import { parseProvider } from '../party/measureRequest.ts';
import { readDefinitionFile } from './definitionFile.ts';

export interface ActingConsumer {
  client: ExchangeClient;
  consumer: Consumer;
  /** The resource name of the calling consumer. */
  principal: string;
}

export async function actingConsumer(options: ActingOptions): Promise<ActingConsumer> {
  const { client, consumer, credentials } = await consumerOf(options);
  return { client, consumer, principal: credentials.name };
}

const NAME = /^(measurementConsumers\/[^/]+\/reports\/)?[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Returns the definition in the file or stored report that `text` names. Without `text`, returns a definition for all
 * event groups.
 */
export async function definitionOf(
  { client, consumer, principal }: ActingConsumer,
  text: string | undefined,
): Promise<ReportDefinition> {
  if (text === undefined) return consumer.reports.starter();
  const definition = await readDefinitionFile(text, async (short) => {
    const chosen = await chosenGroups(client, principal, parseProvider(short));
    return [...chosen].flatMap(([provider, groups]) =>
      groups.map((group) => `${provider}/eventGroups/${idOf(group)}`),
    );
  });
  if (definition !== undefined) return definition;
  if (NAME.test(text)) return (await consumer.reports.get(nameBelow(principal, 'reports', text))).definition;
  throw new Error(
    `${text} is neither a file nor a report: check the path, or choose a name that mex report list prints.`,
  );
}

/** Returns the full name of the report that `text` names. Without `text`, returns the name of the newest report. */
export async function reportName(
  { consumer, principal }: ActingConsumer,
  text: string | undefined,
): Promise<string> {
  if (text !== undefined) return nameBelow(principal, 'reports', text);
  for await (const { name } of consumer.reports.list()) return name;
  throw new Error('You have no report yet: mex report run makes one.');
}

/** Creates a command for one of the caller's reports. */
export function ofReport<O extends ActingOptions>(
  name: string,
  description: string,
  work: (call: ActingConsumer & { name: string }, options: O) => Promise<void>,
): Command {
  return withKeys(remote(`${name} [report]`, `${description} (the newest, unless you name one)`)).action(
    async (text: string | undefined, options: O) => {
      const acting = await actingConsumer(options);
      await work({ ...acting, name: await reportName(acting, text) }, options);
    },
  );
}

export function titleOf(report: { definition?: StoredReport['definition'] }): string {
  return report.definition?.title ?? '(cannot be read)';
}
