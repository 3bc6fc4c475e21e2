/** `mex webhooks`: endpoints to which the exchange sends what changes. */
import {
  CHANGE_KINDS,
  type ChangeKind,
  type Webhook,
  type WebhookDelivery,
} from '@measurement-exchange/contract';
import { type Command, Option } from 'commander';
import { type CallOptions, group, remote } from '../admin/command.ts';
import { partyName } from '../names.ts';
import { print, printFacts, visible } from '../output.ts';
import {
  callerOf,
  type ListOptions,
  listCommand,
  nameBelow,
  nextCommand,
  pageSizeOf,
  showPages,
  showResource,
} from './command.ts';
import { shortTime } from './times.ts';

export function webhooksCommand(): Command {
  return group('webhooks', 'endpoints of yours to which the exchange sends what changes, signed', [
    create(),
    list(),
    get(),
    update(),
    setState('pause', 'PAUSED', 'send nothing more; what changes waits in the log'),
    setState('resume', 'ACTIVE', 'go on where it stopped, at once'),
    rotateSecret(),
    test(),
    redeliver(),
    deliveries(),
    remove(),
  ]);
}

interface WebhookOptions extends CallOptions {
  kind?: ChangeKind[];
  description?: string;
}

function withInput(command: Command): Command {
  return command
    .addOption(new Option('--kind <kind...>', 'only changes of these kinds').choices(CHANGE_KINDS))
    .option('--description <text>', 'what it is for');
}

function inputOf({ kind, description }: WebhookOptions) {
  return {
    ...(kind && { filter: { kinds: kind } }),
    ...(description !== undefined && { description }),
  };
}

function create(): Command {
  return withInput(remote('create <url>', 'send what changes from now on to this URL')).action(
    async (url: string, options: WebhookOptions) => {
      const { client, principal } = await callerOf(options);
      const parent = partyName(principal).name;
      const webhook = await client.createWebhook({ parent, body: { url, ...inputOf(options) } });
      showResource(options, webhook, () => {
        print(`${webhook.name} is made. Its secret, which is shown only now:\n\n  ${webhook.secret}\n`);
        print(`Try it: ${nextCommand(options, `mex webhooks test ${webhook.name}`)}`);
      });
    },
  );
}

function list(): Command {
  return listCommand('list', 'list your webhooks').action(async (options: ListOptions) => {
    const { client, principal } = await callerOf(options);
    const parent = partyName(principal).name;
    const listing = client.listWebhooks({ parent, ...pageSizeOf(options) });
    await showPages(options, listing.pages(), (page) => page.webhooks, {
      headings: ['NAME', 'STATE', 'URL', 'KINDS', 'DESCRIPTION'],
      row: (w) => [w.name, w.state, w.url, kindsOf(w), w.description],
      none: `${parent} has none: mex webhooks create https://… makes one.`,
    });
  });
}

function kindsOf({ filter }: Webhook): string {
  return filter?.kinds?.join(', ') || 'all';
}

/** A command about one webhook. */
function one(
  usage: string,
  description: string,
  work: (call: Awaited<ReturnType<typeof callerOf>>, name: string, options: WebhookOptions) => Promise<void>,
): Command {
  return remote(`${usage} <webhook>`, description).action(async (text: string, options: WebhookOptions) => {
    const caller = await callerOf(options);
    await work(caller, nameBelow(caller.principal, 'webhooks', text), options);
  });
}

function get(): Command {
  return one('get', 'show one, by its name or ID', async ({ client }, name, options) => {
    showResource(options, await client.getWebhook({ name }), describe);
  });
}

function describe(webhook: Webhook): void {
  printFacts(webhook.name!, {
    state: webhook.state,
    'paused because': webhook.pauseReason && visible(webhook.pauseReason),
    url: webhook.url,
    kinds: kindsOf(webhook),
    description: webhook.description ? visible(webhook.description) : undefined,
    'missed changes':
      webhook.skippedTime && `before ${shortTime(webhook.skippedTime)} UTC: list your resources`,
    created: `${shortTime(webhook.createTime!)} UTC`,
    updated: `${shortTime(webhook.updateTime!)} UTC`,
  });
}

function update(): Command {
  const command = one(
    'update',
    'change the URL, the kinds or the description',
    async (call, name, options) => {
      const { to } = options as { to?: string };
      const body = { ...(to !== undefined && { url: to }), ...inputOf(options) };
      showResource(options, await call.client.updateWebhook({ name, body }), describe);
    },
  );
  return withInput(command).option('--to <url>', 'the new URL of the endpoint');
}

function setState(verb: string, state: Webhook['state'], description: string): Command {
  return one(verb, description, async ({ client }, name, options) => {
    showResource(options, await client.updateWebhook({ name, body: { state } }), describe);
  });
}

function rotateSecret(): Command {
  return one(
    'rotate-secret',
    'make a new secret; the old one signs too for 24 hours',
    async (call, name, options) => {
      const webhook = await call.client.rotateWebhookSecret({ name });
      showResource(options, webhook, ({ secret }) =>
        print(`The new secret of ${name}, which is shown only now:\n\n  ${secret}`),
      );
    },
  );
}

function test(): Command {
  return one('test', 'send a test message', async ({ client }, name, options) => {
    const delivery = await client.testWebhook({ name });
    showResource(options, delivery, () =>
      print(`Sent in a moment. How it went: ${nextCommand(options, `mex webhooks deliveries ${name}`)}`),
    );
  });
}

function redeliver(): Command {
  const command = one('redeliver', 'send all changes since a time again', async (call, name, options) => {
    const { from } = options as unknown as { from: string };
    showResource(options, await call.client.redeliverWebhook({ name, body: { from } }), () =>
      print(`${name} gets everything since ${from} again, as far as the log is kept.`),
    );
  });
  return command.requiredOption('--from <time>', 'since when, such as 2026-11-16T08:00:00Z');
}

function deliveries(): Command {
  return listCommand('deliveries <webhook>', 'what was sent, how it went, when it is tried again').action(
    async (text: string, options: ListOptions) => {
      const { client, principal } = await callerOf(options);
      const name = nameBelow(principal, 'webhooks', text);
      const listing = client.listWebhookDeliveries({ parent: name, ...pageSizeOf(options) });
      await showPages(options, listing.pages(), (page) => page.deliveries, {
        headings: ['RESOURCE', 'VERSION', 'STATE', 'ATTEMPTS', 'LAST', 'MS', 'NEXT (UTC)'],
        row: (d) => [
          d.resource,
          String(d.version),
          d.state,
          String(d.attempts),
          outcomeOf(d),
          d.milliseconds?.toString(),
          d.nextAttemptTime && shortTime(d.nextAttemptTime),
        ],
        none: 'Nothing was sent yet.',
      });
    },
  );
}

function outcomeOf({ status, error }: WebhookDelivery): string | undefined {
  return error ?? status?.toString();
}

function remove(): Command {
  return one('delete', 'delete one', async ({ client }, name, options) => {
    showResource(options, await client.deleteWebhook({ name }), () => print(`${name} is deleted.`));
  });
}
