/** Creates commands that call the exchange, and prints their output. */
import { MAX_PAGE_SIZE } from '@measurement-exchange/contract';
import type { Listing } from '@measurement-exchange/sdk';
import { Command, InvalidArgumentError } from 'commander';
import { type ClientOptions, explained } from '../connection/client.ts';
import { print, printJson, printTable } from '../terminal/output.ts';

export interface CallOptions extends ClientOptions {
  json?: boolean;
}

export function group(name: string, description: string, commands: Command[]): Command {
  const command = new Command(name).description(description);
  for (const sub of commands) command.addCommand(sub);
  return command;
}

/** A command that replaces an error from the exchange with one that also lists the reason, violations, and advice. */
class RemoteCommand extends Command {
  override action(work: Parameters<Command['action']>[0]): this {
    return super.action(async (...args) => {
      try {
        await work.apply(this, args);
      } catch (error) {
        throw explained(error);
      }
    });
  }
}

/** Creates a command that calls the exchange. `usage` is the command's name and arguments, such as `get <party>`. */
export function remote(usage: string, description: string): Command {
  const [name, ...parameters] = usage.split(' ');
  const command = new RemoteCommand(name).description(description);
  for (const parameter of parameters) command.argument(parameter);
  return command
    .optionsGroup('The call:')
    .option('--json', 'print the response as JSON')
    .option('--url <url>', 'the exchange (else MEX_URL, the profile, or the development exchange here)')
    .option('--token <token>', 'who calls (better MEX_TOKEN, which others on this machine do not see)')
    .option('--as <party>', 'in development: call as this demo party, streamly or dataProviders/streamly')
    .optionsGroup('Options:');
}

/**
 * With --json, prints a resource as JSON. Otherwise, calls `describe`. If `describe` returns text, prints this text.
 */
export function showResource<T>(
  options: { json?: boolean },
  resource: T,
  describe: (resource: T) => unknown,
): void {
  const sentence = options.json ? printJson(resource) : describe(resource);
  if (typeof sentence === 'string') print(sentence);
}

/** Returns the object without its undefined members, such as options that were not given. */
export function given<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

/** The largest page size, for commands that always read a whole list. Larger pages need fewer calls. */
export const WHOLE_LIST = { pageSize: MAX_PAGE_SIZE };

export interface Table<T> {
  headings: string[];
  row: (item: T) => (string | undefined)[];
  /** The text to print if the list is empty. */
  none: string;
}

export async function showList<T>(
  options: CallOptions,
  member: string,
  listing: Listing<T, unknown>,
  table: Table<T>,
): Promise<void> {
  const items = await Array.fromAsync(listing);
  if (options.json) printJson({ [member]: items });
  else if (items.length === 0) print(table.none);
  else printTable(table.headings, items.map(table.row));
}

export function positiveInteger(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}
