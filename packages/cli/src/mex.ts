#!/usr/bin/env node
/** `mex`: the command line of the Measurement Exchange. */
import { Command, CommanderError } from 'commander';
import { doctorCommand } from './commands/doctor.ts';
import { envCommand } from './commands/env.ts';
import { migrateCommand } from './commands/migrate.ts';
import { serveCommand } from './commands/serve.ts';
import { tokenCommand } from './commands/token.ts';
import { explain } from './output.ts';

const mex = new Command('mex')
  .description('Measure reach, frequency, impressions, watch duration and population across publishers.')
  .version('0.1.0')
  .showHelpAfterError('(mex --help lists the commands)')
  .exitOverride()
  .addHelpText(
    'after',
    `
Settings come from the environment: PORT, HOST, MEX_DATA_DIR, DATABASE_URL, MEX_CHECKS, MEX_CONFIG.

First steps:
  mex serve --dev                       start an exchange with demo parties
  mex token measurementConsumers/acme   a bearer token for one of them
  mex doctor                            look for anything that should not be`,
  );
for (const command of [serveCommand(), tokenCommand(), envCommand(), doctorCommand(), migrateCommand()])
  mex.addCommand(command);

try {
  await mex.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode);
  process.stderr.write(`mex: ${explain(error)}\n`);
  process.exit(1);
}
