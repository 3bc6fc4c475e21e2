/** `mex summary`: shows how many resources a party has in each state, and lists those that need its attention. */
import type { Attention, Count, PartySummary } from '@measurement-exchange/contract';
import type { Command } from 'commander';
import { callerOf, requireParty } from '../calls/caller.ts';
import { type CallOptions, remote, showResource } from '../calls/command.ts';
import { paint, print, printFacts, visible } from '../terminal/output.ts';
import { shortTime } from '../terminal/times.ts';

export function summaryCommand(): Command {
  return remote('summary', 'how many you have in each state, and what needs your attention').action(
    async (options: CallOptions) => {
      const caller = await callerOf(options);
      requireParty(caller, 'mex summary');
      const summary = await caller.client.getPartySummary({ name: caller.principal });
      showResource(options, summary, (s) => describe(caller.principal, s));
    },
  );
}

function describe(party: string, summary: PartySummary): void {
  const { measurements, requisitions, computations, eventGroups, certificate, webhooks } = summary;
  const work = measurements ?? requisitions ?? computations!;
  const { underHour, underDay, older } = work.openByAge;
  printFacts(party, {
    ...Object.fromEntries(work.states.map(({ state, ...count }) => [state, inWords(count)])),
    'open by age': `under 1 h: ${inWords(underHour)}, under 1 day: ${inWords(underDay)}, older: ${inWords(older)}`,
    'event groups': eventGroups && inWords(eventGroups),
    certificate: certificate === undefined ? 'none' : `until ${shortTime(certificate.notAfter)} UTC`,
    webhooks: `${webhooks.active} active (${webhooks.failing} failing), ${webhooks.paused} paused`,
  });
  if (summary.attention.length === 0) print('\n  Nothing needs your attention.');
  for (const one of summary.attention) showAttention(one);
  if (summary.moreAttention) print('\n  There may be more than these.');
}

function inWords({ count, more }: Count): string {
  return more ? `more than ${count}` : String(count);
}

function showAttention({ code, name, time, detail, remedy }: Attention): void {
  print(
    `\n  ${paint('yellow', code)} ${paint('bold', name)} ${paint('dim', `(since ${shortTime(time)} UTC)`)}`,
  );
  print(`    ${visible(detail)}`);
  print(`    ${paint('green', '→')} ${visible(remedy)}`);
}
