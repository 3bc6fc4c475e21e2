/** `mex report show`, `list` and `delete`. */
import type { Command } from 'commander';
import { listCommand as listing, nameBelow, nextCommand } from '../calls/caller.ts';
import { remote } from '../calls/command.ts';
import { type ActingOptions, consumerOf, withKeys } from '../calls/keys.ts';
import { note, print, printJson, printJsonLine, startTable } from '../terminal/output.ts';
import { shortTime } from '../terminal/times.ts';
import { ofReport, titleOf } from './choose.ts';
import { printReport } from './print.ts';

export function showCommand(): Command {
  const description = 'print a report from what is answered now; asks nothing';
  return ofReport<ActingOptions>('show', description, async ({ consumer, name }, options) => {
    const { document, needs } = await consumer.reports.show(name);
    if (options.json) return printJson({ name, ...document });
    printReport(document, name);
    if (needs.some(({ state }) => state !== 'SUCCEEDED')) {
      note(`To ask for what is missing, and wait: ${nextCommand(options, `report run ${name}`, options)}`);
    }
  });
}

export function listCommand(): Command {
  return withKeys(listing('list', 'your reports, the newest first')).action(
    async (options: ActingOptions & { limit: number }) => {
      const { consumer } = await consumerOf(options);
      const table = startTable(['report', 'title', 'state', 'measurements', 'created']);
      let shown = 0;
      for await (const report of consumer.reports.list()) {
        if (shown++ === options.limit) break;
        const { definition, ...rest } = report;
        if (options.json) printJsonLine({ ...rest, title: definition?.title });
        else {
          const stored = 'error' in report ? undefined : report;
          table([
            [
              ...[report.name, titleOf(report), report.state],
              stored ? String(new Set(stored.measurements.values()).size) : '',
              shortTime(stored?.createTime),
            ],
          ]);
        }
      }
      if (shown === 0 && !options.json) print('You have no report yet: mex report run makes one.');
    },
  );
}

export function deleteCommand(): Command {
  const description = 'delete a report, but none of its measurements';
  return withKeys(remote('delete <report>', description)).action(
    async (text: string, options: ActingOptions) => {
      const { consumer, credentials } = await consumerOf(options);
      const name = nameBelow(credentials.name, 'reports', text);
      await consumer.reports.delete(name);
      if (options.json) printJson({ name });
      else print(`Deleted ${name}. Its measurements are still there: mex measurements list.`);
    },
  );
}
