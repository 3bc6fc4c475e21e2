import { loadConfig } from '@measurement-exchange/exchange/config';
import { type RetentionCounts, runRetention } from '@measurement-exchange/exchange/maintenance';
import { Command } from 'commander';
import { counted } from '../terminal/numbers.ts';
import { print, printJson } from '../terminal/output.ts';
import { startProgress } from '../terminal/progress.ts';

export function retentionCommand(): Command {
  return new Command('retention')
    .description('cancel what is pending for too long and remove what ended long ago, by the configured days')
    .option('--apply', 'apply it (otherwise only print the counts)')
    .option('--json', 'print the counts as JSON')
    .addHelpText(
      'after',
      `
The days are set in the file of MEX_CONFIG: "retention": {"cancelPendingAfterDays": 30, "removeTerminalAfterDays": 400}.
A running exchange with this setting applies it by itself, every minute; this command is for a preview, and for a
first large run. Removed measurements leave a tombstone: name, state and times.`,
    )
    .action(async (options: { apply?: boolean; json?: boolean }) => {
      const config = loadConfig(process.env);
      if (config.retention === undefined) {
        throw new Error(
          'No retention is configured, so nothing is removed: set "retention" in the file of MEX_CONFIG (mex admin retention --help).',
        );
      }
      const progress = startProgress('retention', 'measurements');
      const counts = await runRetention(config, config.retention, {
        apply: options.apply === true,
        onProgress: progress.update,
      });
      progress.end();
      if (options.json) printJson({ applied: options.apply === true, ...counts });
      else print(describe(counts, options.apply === true));
    });
}

function describe({ cancel, remove }: RetentionCounts, applied: boolean): string {
  const cancelled = counted(cancel, 'pending measurement');
  const removed = counted(remove, 'measurement that ended', 'measurements that ended');
  if (applied) return `Cancelled ${cancelled} and removed ${removed}.`;
  return `Would cancel ${cancelled} and remove ${removed}. With --apply it does.`;
}
