/** Every command of `mex`. */
import { Command, Help } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { adminCommand } from './admin/index.ts';
import { backupCommand } from './commands/backup.ts';
import { doctorCommand } from './commands/doctor.ts';
import { envCommand } from './commands/env.ts';
import { migrateCommand } from './commands/migrate.ts';
import { restoreCommand } from './commands/restore.ts';
import { serveCommand } from './commands/serve.ts';
import { tokenCommand } from './commands/token.ts';
import { completionCommand } from './completion/command.ts';
import { demoCommand } from './demo/command.ts';
import { duchyCommand } from './duchy/index.ts';
import { identityCommand } from './identity/command.ts';
import { keysCommand } from './keys/command.ts';
import { paint } from './output.ts';
import { certificatesCommand } from './party/certificates.ts';
import { computationsCommand } from './party/computations.ts';
import { descriptorsCommand } from './party/descriptors.ts';
import { eventGroupsCommand } from './party/eventGroups.ts';
import { measureCommand } from './party/measure.ts';
import { measurementsCommand } from './party/measurements.ts';
import { populationsCommand } from './party/populations.ts';
import { requisitionsCommand } from './party/requisitions.ts';
import { whoamiCommand } from './party/whoami.ts';
import { providerCommand } from './provider/index.ts';
import { verifyCommand } from './verify/command.ts';

/** In the order in which people need them, each with its line in the overview. */
const GROUPS: [heading: string, commands: [make: () => Command, summary: string][]][] = [
  [
    'Try it:',
    [
      [demoCommand, 'a whole measurement with three publishers, compared with the truth'],
      [serveCommand, 'start an exchange; --dev with demo parties'],
      [tokenCommand, 'a bearer token for a demo party'],
      [envCommand, 'demo parties as shell variables'],
    ],
  ],
  [
    'Measure:',
    [
      [measureCommand, 'ask providers for a figure, and print it with its interval'],
      [measurementsCommand, 'list, show, results, timeline, cancel'],
      [eventGroupsCommand, 'what can be measured: list, get, create, update, delete'],
      [populationsCommand, 'whom duchies can count across providers: list, show'],
    ],
  ],
  [
    'Provide data:',
    [
      [providerCommand, 'fulfill requisitions from event files, within a privacy budget'],
      [requisitionsCommand, 'what is asked: list, show, timeline, refuse'],
      [descriptorsCommand, 'schemas of metadata: list, get, create, update, diff, decode'],
    ],
  ],
  ['Compute together:', [[computationsCommand, 'what duchies compute together: list, show']]],
  [
    'Keys and trust:',
    [
      [identityCommand, 'make the keys and certificates of a party, or import them'],
      [keysCommand, 'look into keys and certificates; make keysets'],
      [certificatesCommand, 'list, get, create, revoke, release-hold'],
      [verifyCommand, 'check signatures, certificates, hashes and keys step by step'],
      [whoamiCommand, 'whom the token in use stands for'],
    ],
  ],
  [
    'Compute together:',
    [[duchyCommand, 'run a duchy, which counts people across providers with two others']],
  ],
  [
    'Run an exchange:',
    [
      [adminCommand, 'parties, principals, certificates, roots, populations, audit, retention'],
      [doctorCommand, 'look through the database for what should not be'],
      [backupCommand, 'back up the embedded database'],
      [restoreCommand, 'make a data directory of a backup'],
      [migrateCommand, 'bring the database schema to this version'],
    ],
  ],
  ['This command:', [[completionCommand, 'completion for bash, zsh or fish']]],
];

export function createMex(): Command {
  const mex = new Command('mex')
    .description(
      'Measure reach, frequency, impressions, watch duration and population across publishers, without anybody ' +
        'showing anybody their data.',
    )
    .version(manifest.version)
    .showHelpAfterError('(add --help to see what there is)')
    .configureHelp({ styleTitle: (title) => paint('bold', title), subcommandTerm })
    .exitOverride()
    .addHelpText('after', FIRST_STEPS);
  for (const [heading, commands] of GROUPS) {
    mex.commandsGroup(heading);
    for (const [make, summary] of commands) mex.addCommand(make().summary(summary));
  }
  inherit(mex);
  // Added last, so that it is not in one of the groups above.
  mex.helpCommand(true);
  return mex;
}

/** The overview shows only names; a group also shows the arguments of its commands. */
function subcommandTerm(this: Help, command: Command): string {
  const isOverview = command.parent?.parent === null;
  return isOverview ? command.name() : Help.prototype.subcommandTerm.call(this, command);
}

const FIRST_STEPS = `
First steps:
  mex demo                 everything at once: three publishers and an advertiser
                           measure together, and a report compares with the truth
  mex serve --dev          an exchange with demo parties; in another terminal:
  mex provider run …       a publisher that measures its event files
  mex measure reach --as acme --provider streamly --from 2026-01-01 --to 2026-02-01

Whom you call, and as whom:
  MEX_URL, MEX_TOKEN       or --url and --token; without them the development
                           exchange of MEX_DATA_DIR, whose demo party --as names
  --identity, --root       your keys (mex identity) and the roots you trust, where
                           something is signed or decrypted; --as brings its own

--json prints the response of the API, lists one resource a line. For resources of
your own, the last part of the name is enough. See also mex <command> --help.`;

/** Commander passes settings only to commands created by `.command()`, so they are copied here. */
function inherit(parent: Command): void {
  for (const command of parent.commands) inherit(command.copyInheritedSettings(parent));
}
