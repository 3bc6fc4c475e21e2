/** `mex report define`: writes a report definition with the caller's event groups, as a start for the user to edit. */
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EventGroup } from '@measurement-exchange/contract';
import { DEFINITION_SCHEMA, type ReportDefinition } from '@measurement-exchange/reports';
import type { ExchangeClient } from '@measurement-exchange/sdk';
import { type Command, Option } from 'commander';
import { nextCommand } from '../calls/caller.ts';
import { remote } from '../calls/command.ts';
import { type ActingOptions, consumerOf, withKeys } from '../calls/keys.ts';
import { note, print, printJson, visible } from '../terminal/output.ts';
import { SCHEMA_FILE, toYaml } from './definitionFile.ts';

export function defineCommand(): Command {
  return withKeys(remote('define [file]', 'write a first definition, with your event groups, to edit'))
    .addOption(new Option('--schema', 'print only the JSON schema of definitions'))
    .action(async (file: string | undefined, options: ActingOptions & { schema?: boolean }) => {
      if (options.schema) return printJson(DEFINITION_SCHEMA);
      const { client, consumer, credentials } = await consumerOf(options);
      const definition = await consumer.reports.starter();
      const text = options.json
        ? `${JSON.stringify(definition, null, 2)}\n`
        : toYaml(definition, await describer(client, credentials.name));
      if (file === undefined) return print(text.trimEnd());
      await writeNew(file, text);
      await writeFile(join(dirname(file), SCHEMA_FILE), `${JSON.stringify(DEFINITION_SCHEMA, null, 2)}\n`);
      note(`Wrote ${file}: ${summaryOf(definition)}. ${SCHEMA_FILE} beside it lets editors complete it.`);
      note(`What it would cost: ${nextCommand(options, `report plan ${file}`, options)}`);
    });
}

function summaryOf({ segments, interval }: ReportDefinition): string {
  const names = Object.keys(segments);
  return `${names.length} segments (${names.join(', ')}), ${interval.start} to ${interval.end}`;
}

/**
 * Returns a function that describes an event group. The description contains the event group's reference and campaign.
 */
async function describer(client: ExchangeClient, parent: string) {
  const described = new Map<string, string>();
  for await (const group of client.listEventGroups({ parent })) {
    described.set(`${group.dataProvider}/eventGroups/${group.name!.split('/').at(-1)}`, describe(group));
  }
  return (name: string) => described.get(name);
}

function describe({ eventGroupReferenceId, eventGroupMetadata }: EventGroup): string {
  const { brandName, campaignName } = eventGroupMetadata?.adMetadata?.campaignMetadata ?? {};
  const words = [eventGroupReferenceId, [brandName, campaignName].filter((name) => name).join(' ')];
  return visible(words.filter((word) => word).join(', ')).replaceAll(/\s+/g, ' ');
}

/** Writes a new file. Throws if the file exists, because a user may have edited it. */
async function writeNew(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw new Error(`${file} exists already: name another file, or delete it first.`);
  });
}
