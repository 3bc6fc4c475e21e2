import { Command } from 'commander';

/**
 * Creates the command that `mex serve --dev` runs in a separate process for its publishers. The help does not show this
 * command.
 */
export function publishersCommand(): Command {
  return new Command('publishers')
    .description('run the agents of the demo publishers until it is stopped')
    .argument('<name...>', 'the names of the data providers')
    .action(async (names: string[]) => {
      // Import run.ts only here, because it loads DuckDB, which would use memory in the exchange.
      const { runPublishers } = await import('./run.ts');
      await runPublishers(names);
    });
}
