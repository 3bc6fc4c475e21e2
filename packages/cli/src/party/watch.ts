/** `mex watch`: prints a party's changes as they happen. */
import { CHANGE_KINDS, type ChangeKind } from '@measurement-exchange/contract';
import { type Command, Option } from 'commander';
import { callerOf, requireParty } from '../calls/caller.ts';
import { type CallOptions, positiveInteger, remote } from '../calls/command.ts';
import { explain, note, print, printJsonLine } from '../terminal/output.ts';
import { shortTime } from '../terminal/times.ts';

interface WatchOptions extends CallOptions {
  kind?: ChangeKind[];
  oldest?: boolean;
  limit?: number;
}

export function watchCommand(): Command {
  return remote('watch', 'print each change that you may see, until it is stopped')
    .addOption(new Option('--kind <kind...>', 'only changes of these kinds').choices(CHANGE_KINDS))
    .option('--oldest', 'begin with the oldest change that is kept, not with the next one')
    .option('--limit <count>', 'end after so many changes', positiveInteger)
    .action(async (options: WatchOptions) => {
      const caller = await callerOf(options);
      requireParty(caller, 'mex watch');
      const { client, principal } = caller;
      let following = `${principal}: changes as they come; Ctrl-C ends it.`;
      let isLost = false;
      const changes = client.watch({
        parent: principal,
        onFollowing: () => {
          note(following);
          following = 'Changes are followed again.';
          isLost = false;
        },
        onRetry: (reason) => {
          if (!isLost) note(`Changes cannot be followed for now; it tries again: ${explain(reason)}`);
          isLost = true;
        },
        ...(options.kind && { 'filter.kinds': options.kind }),
        ...(options.oldest && { from: 'OLDEST' as const }),
      });
      let left = options.limit ?? Number.POSITIVE_INFINITY;
      for await (const change of changes) {
        const { name, kind, state = '', version, time } = change;
        if (options.json) printJsonLine(change);
        else print(`${shortTime(time)}  ${kind.padEnd(11)}  ${name} (${version})  ${state}`.trimEnd());
        if (--left === 0) return;
      }
    });
}
