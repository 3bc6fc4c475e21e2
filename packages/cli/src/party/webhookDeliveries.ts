/** `mex webhooks deliveries`, `resend` and `redeliver`: show a webhook's deliveries, and send them again. */
import type { Timestamp, WebhookDelivery } from '@measurement-exchange/contract';
import type { Command } from 'commander';
import * as calls from '../calls/caller.ts';
import { type CallOptions, remote, showResource } from '../calls/command.ts';
import { parseTime, shortTime } from '../terminal/times.ts';
import { one, ownerOf, type WebhookOptions } from './webhookOwner.ts';

export function deliveries(): Command {
  return calls
    .listCommand('deliveries <webhook>', 'list the deliveries: the outcome of each, and the next attempt')
    .option('--body', 'show the body of each, as it is signed')
    .action(async (text: string, options: calls.ListOptions & { body?: boolean }) => {
      const { client, principal } = await ownerOf(options);
      const name = calls.nameBelow(principal, 'webhooks', text);
      const listing = client.listWebhookDeliveries({ parent: name, ...calls.pageSizeOf(options) });
      const body = options.body ? ['BODY'] : [];
      await calls.showPages(options, listing.pages(), (page) => page.deliveries, {
        headings: [
          'ID',
          'TYPE',
          'STATE',
          'ATTEMPTS',
          'LAST',
          'MS',
          'NEXT (UTC)',
          'RESOURCE',
          'VERSION',
          ...body,
        ],
        row: (d) => [...cellsOf(d), ...body.map(() => d.body)],
        none: 'Nothing was sent yet.',
      });
    });
}

function cellsOf(d: WebhookDelivery): (string | undefined)[] {
  return [
    d.webhookId,
    d.type,
    d.state,
    String(d.attempts),
    d.error ?? d.status?.toString(),
    d.milliseconds?.toString(),
    d.nextAttemptTime && shortTime(d.nextAttemptTime),
    d.resource,
    String(d.version),
  ];
}

export function resend(): Command {
  return remote('resend <webhook> <delivery>', 'send one delivery again, by its ID').action(
    async (text: string, webhookId: string, options: CallOptions) => {
      const { client, principal } = await ownerOf(options);
      const name = calls.nameBelow(principal, 'webhooks', text);
      const outcome = calls.nextCommand(options, `webhooks deliveries ${name}`);
      showResource(
        options,
        await client.redeliverWebhook({ name, body: { webhookId } }),
        () => `${webhookId} is sent again in a moment. See the outcome: ${outcome}`,
      );
    },
  );
}

export function redeliver(): Command {
  return one(
    'redeliver',
    'send all changes since a time again',
    async ({ client, name }, options: WebhookOptions & { from: Timestamp }) => {
      const { from } = options;
      showResource(
        options,
        await client.redeliverWebhook({ name, body: { from } }),
        () => `${name} gets everything since ${shortTime(from)} UTC again, as far as the log is kept.`,
      );
    },
  ).requiredOption('--from <time>', 'a time, a day, or how long ago: 12h, 7d', parseTime);
}
