/** What the commands of `mex admin` have in common. */
import { Command, InvalidArgumentError } from 'commander';
import { type Client, type ClientOptions, connect } from '../client.ts';
import { print, printJson, printTable } from '../output.ts';

export interface CallOptions extends ClientOptions {
  json?: boolean;
}

/** A group: `mex admin parties …`. */
export function group(name: string, description: string, commands: Command[]): Command {
  const command = new Command(name).description(description);
  for (const sub of commands) command.addCommand(sub);
  return command;
}

/** A command that calls the exchange; `usage` is its name and arguments. */
export function remote(usage: string, description: string): Command {
  const [name, ...parameters] = usage.split(' ');
  const command = new Command(name).description(description);
  for (const parameter of parameters) command.argument(parameter);
  return command
    .optionsGroup('The call:')
    .option('--json', 'print the answer as JSON')
    .option('--url <url>', 'the exchange (else MEX_URL, else the development exchange here)')
    .option('--token <token>', 'who calls (better MEX_TOKEN, which others on this machine do not see)')
    .optionsGroup('Options:');
}

/** One resource: as JSON, or as a sentence. */
export function show<T>(options: CallOptions, resource: T, sentence: (resource: T) => string): void {
  if (options.json) printJson(resource);
  else print(sentence(resource));
}

/** A whole list: as JSON, or as a table; `none` says that there is nothing, and what to do about it. */
export async function showList<T>(
  options: CallOptions,
  { path, member, query }: { path: string; member: string; query?: Record<string, string> },
  table: { headings: string[]; row: (item: T) => (string | undefined)[]; none: string },
): Promise<void> {
  const client: Client = await connect(options);
  const items = await client.list<T>(path, member, query);
  if (options.json) printJson({ [member]: items });
  else if (items.length === 0) print(table.none);
  else printTable(table.headings, items.map(table.row));
}

export function positiveInteger(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}
