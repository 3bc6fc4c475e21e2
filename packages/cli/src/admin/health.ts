import type { Count, PartyHealth } from '@measurement-exchange/contract';
import type { Command } from 'commander';
import { type CallOptions, remote, showList } from '../calls/command.ts';
import { connect } from '../connection/client.ts';
import { shortTime } from '../terminal/times.ts';

export function healthCommand(): Command {
  return remote(
    'health',
    'how the parties do: last seen, days until the certificate expires, open work, webhooks',
  ).action(async (options: CallOptions) => {
    const client = await connect(options);
    await showList(options, 'partyHealth', client.listPartyHealth({ pageSize: 100 }), {
      headings: ['PARTY', 'STATE', 'LAST SEEN', 'CERTIFICATE', 'OPEN', 'OVER 1 DAY', 'WEBHOOKS'],
      row: (health) => [
        health.name,
        health.state,
        health.lastSeen === undefined ? 'never' : shortTime(health.lastSeen),
        certificateWords(health),
        inDigits(health.open),
        inDigits(health.openByAge.older),
        webhookWords(health),
      ],
      none: 'There are no parties yet: mex admin onboard makes one.',
    });
  });
}

function certificateWords({ certificate }: PartyHealth): string {
  if (certificate === undefined) return 'none';
  return certificate.daysLeft < 0 ? 'expired' : `${certificate.daysLeft} days`;
}

function inDigits({ count, more }: Count): string {
  return more ? `${count}+` : String(count);
}

function webhookWords({ webhooks: { active, paused, failing } }: PartyHealth): string {
  const problems = [failing > 0 ? `${failing} failing` : [], paused > 0 ? `${paused} paused` : []].flat();
  return problems.length > 0 ? problems.join(', ') : String(active);
}
