/** `mex webhooks`: endpoints to which the exchange sends what changes. */
import {
  CHANGE_KINDS,
  type ChangeKind,
  type Timestamp,
  type Webhook,
  type WebhookDelivery,
} from '@measurement-exchange/contract';
import { type Command, Option } from 'commander';
import {
  type Caller,
  callerOf,
  type ListOptions,
  listCommand,
  nameBelow,
  nextCommand,
  pageSizeOf,
  requireParty,
  showPages,
  showResource,
} from '../calls/caller.ts';
import { type CallOptions, group, remote } from '../calls/command.ts';
import { print, printFacts, visible } from '../terminal/output.ts';
import { parsePast, shortTime } from '../terminal/times.ts';

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
  kind?: (ChangeKind | 'all')[];
  description?: string;
}

function withInput(command: Command): Command {
  return command
    .addOption(
      new Option('--kind <kind...>', 'only changes of these kinds, or all').choices([...CHANGE_KINDS, 'all']),
    )
    .option('--description <text>', 'what it is for');
}

function inputOf({ kind, description }: WebhookOptions) {
  return {
    ...(kind && { filter: kind.includes('all') ? {} : { kinds: kind as ChangeKind[] } }),
    ...(description !== undefined && { description }),
  };
}

/** The party that calls: only it may see its webhooks. */
async function ownerOf(options: CallOptions): Promise<Caller> {
  const caller = await callerOf(options);
  requireParty(caller, 'mex webhooks');
  return caller;
}

function create(): Command {
  return withInput(remote('create <url>', 'send what changes from now on to this URL')).action(
    async (url: string, options: WebhookOptions) => {
      const { client, principal: parent } = await ownerOf(options);
      const webhook = await client.createWebhook({ parent, body: { url, ...inputOf(options) } });
      showResource(options, webhook, () => {
        print(`${webhook.name} is made. Its secret, which is shown only now:\n\n  ${webhook.secret}\n`);
        print(`Try it: ${nextCommand(options, `webhooks test ${webhook.name}`)}`);
      });
    },
  );
}

function list(): Command {
  return listCommand('list', 'list your webhooks').action(async (options: ListOptions) => {
    const { client, principal: parent } = await ownerOf(options);
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
  work: (call: Caller, name: string, options: WebhookOptions) => Promise<void>,
): Command {
  return remote(`${usage} <webhook>`, description).action(async (text: string, options: WebhookOptions) => {
    const caller = await ownerOf(options);
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
      if (Object.keys(body).length === 0) {
        throw new Error('Say what to change: --to, --kind or --description.');
      }
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
      print(`Sent in a moment. How it went: ${nextCommand(options, `webhooks deliveries ${name}`)}`),
    );
  });
}

function redeliver(): Command {
  const command = one('redeliver', 'send all changes since a time again', async (call, name, options) => {
    const { from } = options as unknown as { from: Timestamp };
    showResource(options, await call.client.redeliverWebhook({ name, body: { from } }), () =>
      print(`${name} gets everything since ${shortTime(from)} UTC again, as far as the log is kept.`),
    );
  });
  return command.requiredOption('--from <time>', 'a time, a day, or how long ago: 12h, 7d', parsePast);
}

function deliveries(): Command {
  return listCommand('deliveries <webhook>', 'what was sent, how it went, when it is tried again').action(
    async (text: string, options: ListOptions) => {
      const { client, principal } = await ownerOf(options);
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
