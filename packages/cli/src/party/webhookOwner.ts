/** Commands for a party's own webhooks. */
import type { ChangeKind } from '@measurement-exchange/contract';
import type { Command } from 'commander';
import * as calls from '../calls/caller.ts';
import type { CallOptions } from '../calls/command.ts';

export interface WebhookOptions extends CallOptions {
  kind?: (ChangeKind | 'all')[];
  description?: string;
}

export async function ownerOf(options: CallOptions): Promise<calls.Caller> {
  const caller = await calls.callerOf(options);
  calls.requireParty(caller, 'mex webhooks');
  return caller;
}

export function one<O extends WebhookOptions>(
  verb: string,
  description: string,
  work: (call: calls.Caller & { name: string }, options: O) => Promise<void>,
): Command {
  return calls.ownCommand<O>(`${verb} <webhook>`, description, 'webhooks', async (call, options) => {
    calls.requireParty(call, 'mex webhooks');
    await work(call, options);
  });
}
