/** Determines the caller of a command, and creates commands for the caller's resources. */
import { type PartyCollection, parsePartyName } from '@measurement-exchange/contract';
import type { ExchangeClient } from '@measurement-exchange/sdk';
import { type Command, InvalidArgumentError } from 'commander';
import { connect } from '../connection/client.ts';
import { note, print, printJsonLine, startTable } from '../terminal/output.ts';
import { commandLine } from '../terminal/shell.ts';
import { type CallOptions, remote, type Table } from './command.ts';

export interface Caller {
  client: ExchangeClient;
  /** The name of the calling party, or `operator`. */
  principal: string;
}

export interface KeyOptions {
  identity?: string;
  root?: string[];
}

/**
 * Connects to the exchange, and asks it for the caller's name. The token does not contain this name, because only the
 * exchange knows which party a token is for.
 */
export async function callerOf(options: CallOptions): Promise<Caller> {
  const client = await connect(options);
  const { principal } = await client.whoAmI();
  return { client, principal };
}

const KINDS: Record<PartyCollection, string> = {
  measurementConsumers: 'a measurement consumer',
  dataProviders: 'a data provider',
  duchies: 'a duchy',
};

export function isOf(kind: PartyCollection, name: string): boolean {
  return name.startsWith(`${kind}/`);
}

export function requireKind(kind: PartyCollection, { principal }: Caller, what: string): void {
  if (!isOf(kind, principal)) throw notFor(principal, what, KINDS[kind], `${kind}/…`);
}

/** Throws if the caller is the operator, because the operator owns no resources. */
export function requireParty({ principal }: Caller, what: string): void {
  if (parsePartyName(principal) !== undefined) return;
  throw notFor(principal, what, 'consumers, data providers and duchies', '…');
}

function notFor(principal: string, what: string, whom: string, as: string): Error {
  return new Error(
    `${what} is for ${whom}, and you call as ${principal}: set MEX_TOKEN to one's token, ` +
      `or in development --as ${as}`,
  );
}

/** Expands the ID of one of the caller's resources to its full name. Returns full names unchanged. */
export function nameBelow(principal: string, collection: string, text: string): string {
  return text.includes('/') ? text : `${principal}/${collection}/${text}`;
}

/**
 * Returns the ID at the end of a name. Commands accept this ID instead of the full name for the caller's own resources.
 */
export function idIn(name: string): string {
  return name.split('/').at(-1)!;
}

/**
 * Creates a command for one of the caller's resources, such as `mex webhooks get <webhook>`. Users may type a name or
 * an ID.
 */
export function ownCommand<O extends CallOptions>(
  usage: string,
  description: string,
  collection: string,
  work: (call: Caller & { name: string }, options: O) => Promise<void>,
): Command {
  return remote(usage, description).action(async (text: string, options: O) => {
    const caller = await callerOf(options);
    await work({ ...caller, name: nameBelow(caller.principal, collection, text) }, options);
  });
}

/**
 * Formats a command that the user can run next, with the exchange and caller of the current command. The result never
 * contains the token.
 */
export function nextCommand({ as, url, token }: CallOptions, command: string, keys: KeyOptions = {}): string {
  const profile = as === undefined ? process.env.MEX_PROFILE || undefined : undefined;
  const line = commandLine(command, { profile, as, url, identity: keys.identity, root: keys.root });
  return token === undefined ? line : `${line}   (with your --token, which is not printed)`;
}

export interface ListOptions extends CallOptions {
  limit: number;
}

/**
 * Creates a command that lists resources and has the option --limit. The code that calls this function must add an
 * action that prints the list.
 */
export function listCommand(usage: string, description: string): Command {
  return remote(usage, description).option('--limit <count>', 'the maximum number, or `all`', parseLimit, 50);
}

function parseLimit(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0, or `all`.');
}

export function pageSizeOf({ limit }: ListOptions): { pageSize: number } {
  return { pageSize: Math.min(limit, 1000) };
}

export async function showPages<T, Page extends { nextPageToken?: string }>(
  options: ListOptions,
  pages: AsyncIterable<Page>,
  itemsOf: (page: Page) => T[],
  { headings, row, none }: Table<T>,
): Promise<void> {
  const table = startTable(headings);
  let shown = 0;
  for await (const page of pages) {
    const found = itemsOf(page);
    const items = found.slice(0, options.limit - shown);
    if (options.json) for (const item of items) printJsonLine(item);
    else if (items.length > 0) table(items.map(row));
    shown += items.length;
    if (shown === options.limit) {
      const more = found.length > items.length || page.nextPageToken !== undefined;
      if (more)
        note(`There are more than these ${options.limit}: --limit ${options.limit * 10}, or --limit all.`);
      return;
    }
  }
  if (shown === 0 && !options.json) print(none);
}
