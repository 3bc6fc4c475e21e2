import type { StateCount } from '@measurement-exchange/contract';
import type { Command } from 'commander';
import { type CallOptions, remote, showResource } from '../calls/command.ts';
import { connect } from '../connection/client.ts';
import { printFacts, visible } from '../terminal/output.ts';
import { shortTime } from '../terminal/times.ts';

export function statusCommand(): Command {
  return remote('status', 'which versions run, the last migration, and how much is open').action(
    async (options: CallOptions) => {
      const client = await connect(options);
      showResource(options, await client.getExchangeStatus(), ({ mode, schema, replicas, measurements }) =>
        printFacts(`${replicas.length} ${replicas.length === 1 ? 'replica' : 'replicas'} in ${mode} mode`, {
          ...Object.fromEntries(
            replicas.map(({ name, host, version, startTime }) => [
              name,
              `${visible(version)} on ${visible(host)} since ${shortTime(startTime)} UTC`,
            ]),
          ),
          migration: `${schema.name}, applied on ${shortTime(schema.applyTime)} UTC`,
          open: inWords(measurements.open),
          'ended in 24 h': inWords(measurements.ended),
        }),
      );
    },
  );
}

function inWords(counts: StateCount[]): string {
  return counts.map(({ state, count, more }) => `${count}${more ? '+' : ''} ${state}`).join(', ');
}
