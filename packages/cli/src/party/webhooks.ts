/** `mex webhooks`: manages the URLs to which the exchange sends a party's changes. */
import { CHANGE_KINDS, type ChangeKind, type Webhook } from '@measurement-exchange/contract';
import { type Command, Option } from 'commander';
import * as calls from '../calls/caller.ts';
import { given, group, remote, showResource } from '../calls/command.ts';
import { print, printFacts, visible } from '../terminal/output.ts';
import { shortTime, timeFacts } from '../terminal/times.ts';
import { deliveries, redeliver, resend } from './webhookDeliveries.ts';
import { listen } from './webhookListen.ts';
import { one, ownerOf, type WebhookOptions } from './webhookOwner.ts';

export function webhooksCommand(): Command {
  return group('webhooks', 'endpoints of yours to which the exchange sends what changes, signed', [
    create(),
    list(),
    one('get', 'show one, by its name or ID', async ({ client, name }, options) => {
      showResource(options, await client.getWebhook({ name }), describe);
    }),
    update(),
    setState('pause', 'PAUSED', 'send nothing for now; changes wait in the log'),
    setState('resume', 'ACTIVE', 'continue where it stopped, at once'),
    rotateSecret(),
    one('test', 'send a test message', async ({ client, name }, options) => {
      const outcome = calls.nextCommand(options, `webhooks deliveries ${name}`);
      const delivery = await client.testWebhook({ name });
      showResource(options, delivery, () => `It is sent in a moment. See the outcome: ${outcome}`);
    }),
    deliveries(),
    resend(),
    redeliver(),
    listen(),
    one('delete', 'delete one', async ({ client, name }, options) => {
      showResource(options, await client.deleteWebhook({ name }), () => `${name} is deleted.`);
    }),
  ]);
}

function withInput(command: Command): Command {
  return command
    .addOption(
      new Option('--kind <kind...>', 'only changes of these kinds, or all').choices([...CHANGE_KINDS, 'all']),
    )
    .option('--description <text>', 'what it is for');
}

function inputOf({ kind, description }: WebhookOptions) {
  const filter = kind?.includes('all') ? {} : kind && { kinds: kind as ChangeKind[] };
  return given({ filter, description });
}

function create(): Command {
  return withInput(remote('create <url>', 'send what changes from now on to this URL')).action(
    async (url: string, options: WebhookOptions) => {
      const { client, principal: parent } = await ownerOf(options);
      const webhook = await client.createWebhook({ parent, body: { url, ...inputOf(options) } });
      showResource(options, webhook, () => {
        print(`${webhook.name} is made. Its secret, which is shown only now:\n\n  ${webhook.secret}\n`);
        print(`Try it: ${calls.nextCommand(options, `webhooks test ${webhook.name}`)}`);
      });
    },
  );
}

function list(): Command {
  return calls.listCommand('list', 'list your webhooks').action(async (options: calls.ListOptions) => {
    const { client, principal: parent } = await ownerOf(options);
    const listing = client.listWebhooks({ parent, ...calls.pageSizeOf(options) });
    await calls.showPages(options, listing.pages(), (page) => page.webhooks, {
      headings: ['NAME', 'STATE', 'URL', 'KINDS', 'DESCRIPTION'],
      row: (w) => [calls.idIn(w.name!), w.state, w.url, kindsOf(w), w.description],
      none: `${parent} has no webhook: mex webhooks create https://… makes one.`,
    });
  });
}

function kindsOf({ filter }: Webhook): string {
  return filter?.kinds?.join(', ') || 'all';
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
    ...timeFacts(webhook),
  });
}

function update(): Command {
  const command = one(
    'update',
    'change the URL, the kinds or the description',
    async ({ client, name }, options: WebhookOptions & { to?: string }) => {
      const body = { ...given({ url: options.to }), ...inputOf(options) };
      if (Object.keys(body).length === 0) {
        throw new Error('Say what to change: --to, --kind or --description.');
      }
      showResource(options, await client.updateWebhook({ name, body }), describe);
    },
  );
  return withInput(command).option('--to <url>', 'the new URL of the endpoint');
}

function setState(verb: string, state: Webhook['state'], description: string): Command {
  return one(verb, description, async ({ client, name }, options) => {
    showResource(options, await client.updateWebhook({ name, body: { state } }), describe);
  });
}

function rotateSecret(): Command {
  return one(
    'rotate-secret',
    'make a new secret; the old one signs too for 24 hours',
    async ({ client, name }, options) =>
      showResource(
        options,
        await client.rotateWebhookSecret({ name }),
        ({ secret }) => `The new secret of ${name}, which is shown only now:\n\n  ${secret}`,
      ),
  );
}
