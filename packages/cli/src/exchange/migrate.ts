import { loadConfig } from '@measurement-exchange/exchange/config';
import { migrate, RESTORED, withDatabase } from '@measurement-exchange/exchange/maintenance';
import { Command } from 'commander';
import { print, printJson } from '../terminal/output.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description(
      'bring the database schema to this version (as its owner); a new database becomes one of production',
    )
    .option('--json', 'print what was applied as JSON')
    .action(async (options: { json?: boolean }) => {
      const { applied, restored } = await withDatabase(loadConfig(process.env), ({ owner, appRole }) =>
        migrate({ connection: owner, appRole, mode: 'production' }),
      );
      if (options.json) printJson({ applied, restored });
      else {
        print(applied.length === 0 ? 'The schema is current.' : `Applied ${applied.join(', ')}.`);
        if (restored) print(RESTORED);
      }
    });
}
