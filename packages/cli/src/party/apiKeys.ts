/** `mex api-keys`: manages the keys with which a measurement consumer's programs call the gRPC API. */
import { timestampOf } from '@measurement-exchange/contract';
import type { Command } from 'commander';
import * as calls from '../calls/caller.ts';
import { type CallOptions, given, group, positiveInteger, remote, showResource } from '../calls/command.ts';
import { findParty } from '../calls/party.ts';
import { print, visible } from '../terminal/output.ts';
import { shortTime } from '../terminal/times.ts';

interface OwnerOptions {
  consumer?: string;
}

interface CreateOptions extends CallOptions, OwnerOptions {
  description?: string;
  days?: number;
}

const DAY_MS = 24 * 3600_000;

export function apiKeysCommand(): Command {
  return group('api-keys', 'keys with which programs of a measurement consumer call by gRPC', [
    create(),
    list(),
    calls.ownCommand<CallOptions>(
      'delete <key>',
      'delete one, so that nobody can call with it any more',
      'apiKeys',
      async ({ client, name }, options) => {
        const sentence = () => `${name} is deleted: its key is rejected, on every replica within 30 s.`;
        showResource(options, await client.deleteApiKey({ name }), sentence);
      },
    ),
  ]);
}

function create(): Command {
  return ofConsumer(remote('create <displayName>', 'create one, and print its key, which is shown only now'))
    .option('--description <text>', 'what it is for')
    .option('--days <count>', 'how long it works: 90 days unless given, 366 at most', positiveInteger)
    .action(async (displayName: string, options: CreateOptions) => {
      const { client, parent } = await ownerOf(options);
      const { description, days } = options;
      const expireTime = days && timestampOf(Date.now() + days * DAY_MS);
      const body = { displayName, ...given({ description, expireTime: expireTime || undefined }) };
      showResource(options, await client.createApiKey({ parent, body }), (created) => {
        print(
          `${created.name} is made. Its key, which is shown only now:\n\n  ${created.authenticationKey}\n`,
        );
        print(
          `Keep it where your program keeps its secrets, and send it as x-api-key in the metadata of each call. ` +
            `It works until ${shortTime(created.expireTime)} UTC.`,
        );
      });
    });
}

function list(): Command {
  const command = calls.listCommand('list', 'list them, without the keys themselves');
  return ofConsumer(command).action(async (options: calls.ListOptions & OwnerOptions) => {
    const { client, parent } = await ownerOf(options);
    const listing = client.listApiKeys({ parent, ...calls.pageSizeOf(options) });
    await calls.showPages(options, listing.pages(), (page) => page.apiKeys, {
      headings: ['ID', 'EXPIRES', 'DISPLAY NAME', 'DESCRIPTION'],
      row: (key) => [
        calls.idIn(key.name!),
        shortTime(key.expireTime),
        visible(key.displayName),
        key.description && visible(key.description),
      ],
      none: `${parent} has no API key: mex api-keys create <displayName> makes one.`,
    });
  });
}

function ofConsumer(command: Command): Command {
  return command.option('--consumer <name>', 'as the operator: the measurement consumer that it is for');
}

async function ownerOf({ consumer, ...options }: CallOptions & OwnerOptions) {
  const caller = await calls.callerOf(options);
  if (consumer !== undefined) return { ...caller, parent: await findParty(caller.client, consumer) };
  calls.requireKind('measurementConsumers', caller, 'mex api-keys');
  return { ...caller, parent: caller.principal };
}
