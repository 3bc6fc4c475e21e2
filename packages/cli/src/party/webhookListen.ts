/** `mex webhooks listen`: sends a party's changes to a local URL, signed as the exchange signs its deliveries. */
import { randomBytes } from 'node:crypto';
import { CHANGE_KINDS, type Change, type ChangeKind } from '@measurement-exchange/contract';
import * as message from '@measurement-exchange/exchange/webhookMessages';
import { type Command, InvalidArgumentError, Option } from 'commander';
import * as calls from '../calls/caller.ts';
import { type CallOptions, positiveInteger, remote } from '../calls/command.ts';
import { explain, note, paint, print, printJsonLine } from '../terminal/output.ts';
import { shortTime } from '../terminal/times.ts';

interface ListenOptions extends CallOptions {
  forwardTo: string;
  secret: Uint8Array;
  kind?: ChangeKind[];
  oldest?: boolean;
  limit?: number;
}

/** The maximum time for the endpoint to respond. The exchange uses the same limit for its deliveries. */
const RESPONSE_MS = 10_000;

export function listen(): Command {
  return remote(
    'listen',
    'send each change to a URL of this machine, as a webhook would; no public address is needed',
  )
    .requiredOption(
      '--forward-to <url>',
      'where your receiver listens, such as http://localhost:3000/hooks',
      parseUrl,
    )
    .option('--secret <whsec>', 'the secret that signs (else a new one, which is printed)', parseSecret)
    .addOption(new Option('--kind <kind...>', 'only changes of these kinds').choices(CHANGE_KINDS))
    .option('--oldest', 'begin with the oldest change that is kept, not with the next one')
    .option('--limit <count>', 'end after so many changes', positiveInteger)
    .addHelpText(
      'after',
      `
Nothing is created at the exchange. Each change is sent once: what your receiver rejects is shown and not sent again.

  mex webhooks listen --as acme --forward-to http://localhost:3000/hooks --oldest`,
    )
    .action(async ({ secret = randomBytes(message.SECRET_BYTES), ...options }: ListenOptions) => {
      const caller = await calls.callerOf(options);
      calls.requireParty(caller, 'mex webhooks listen');
      const { client, principal } = caller;
      const changes = client.watch({
        parent: principal,
        onFollowing: () => note(`${principal}: changes go to ${options.forwardTo}; Ctrl-C ends it.`),
        onRetry: (reason) => note(`Changes cannot be followed for now; it tries again: ${explain(reason)}`),
        ...(options.kind && { 'filter.kinds': options.kind }),
        ...(options.oldest && { from: 'OLDEST' as const }),
      });
      note(`The secret that signs: ${message.printSecret(secret)}`);
      let left = options.limit ?? Number.POSITIVE_INFINITY;
      for await (const change of changes) {
        const outcome = await forward(change, principal, secret, options.forwardTo);
        if (options.json) printJsonLine({ change, ...outcome });
        else print(lineOf(change, outcome));
        if (--left === 0) return;
      }
    });
}

interface Outcome {
  webhookId: string;
  status?: number;
  error?: string;
}

async function forward(change: Change, party: string, secret: Uint8Array, url: string): Promise<Outcome> {
  const body = message.payloadOf(change);
  const webhookId = message.messageId(`${party} here`, change);
  const headers = message.signedHeaders(webhookId, Math.floor(Date.now() / 1000), body, [secret]);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(RESPONSE_MS),
    });
    await response.body?.cancel();
    return { webhookId, status: response.status };
  } catch (error) {
    const { message, cause } = error as { message: string; cause?: { code?: string; message?: string } };
    return { webhookId, error: cause?.code ?? cause?.message ?? message };
  }
}

function lineOf({ name, kind, version, time, state = '' }: Change, { status, error }: Outcome): string {
  const isTaken = status !== undefined && status >= 200 && status < 300;
  const outcome = paint(
    isTaken ? 'green' : 'red',
    String(status ?? `not sent (${error}): does your receiver run?`),
  );
  return `${shortTime(time)}  ${message.eventType({ kind })}  ${name} (${version})  ${state}  →  ${outcome}`;
}

function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url.href;
  throw new InvalidArgumentError('It must be a URL such as http://localhost:3000/hooks.');
}

function parseSecret(text: string): Uint8Array {
  const bytes = Buffer.from(text.replace(/^whsec_/, ''), 'base64');
  if (text.startsWith('whsec_') && bytes.length >= 16) return bytes;
  throw new InvalidArgumentError('It must be a secret such as mex webhooks create prints: whsec_…');
}
