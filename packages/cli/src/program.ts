/** Every command of `mex`. */
import { Command } from 'commander';
import { adminCommand } from './admin/index.ts';
import { backupCommand } from './commands/backup.ts';
import { doctorCommand } from './commands/doctor.ts';
import { envCommand } from './commands/env.ts';
import { identityCommand } from './commands/identity.ts';
import { migrateCommand } from './commands/migrate.ts';
import { restoreCommand } from './commands/restore.ts';
import { serveCommand } from './commands/serve.ts';
import { tokenCommand } from './commands/token.ts';

export function createMex(): Command {
  const mex = new Command('mex')
    .description('Measure reach, frequency, impressions, watch duration and population across publishers.')
    .version('0.1.0')
    .showHelpAfterError('(add --help to see what there is)')
    .exitOverride()
    .addHelpText(
      'after',
      `
Settings come from the environment: PORT, HOST, MEX_DATA_DIR, DATABASE_URL, MEX_CHECKS, MEX_CONFIG; for mex admin
also MEX_URL and MEX_TOKEN. mex <command> --help says more.

First steps:
  mex serve --dev                       start an exchange with demo parties
  mex token measurementConsumers/acme   a bearer token for one of them
  mex doctor                            look for anything that should not be

Running one:
  mex identity dataProviders/x --out x  keys and certificates of a new party
  mex admin onboard x/party.json …      let it in, without a restart
  mex backup backups/today              a copy to restore from`,
    );
  for (const command of [
    serveCommand(),
    tokenCommand(),
    envCommand(),
    identityCommand(),
    adminCommand(),
    doctorCommand(),
    backupCommand(),
    restoreCommand(),
    migrateCommand(),
  ])
    mex.addCommand(command);
  inherit(mex);
  return mex;
}

/** Commander hands settings down only to commands that are made inside of others. */
function inherit(parent: Command): void {
  for (const command of parent.commands) inherit(command.copyInheritedSettings(parent));
}
