/** All `mex` commands. */
import { Command, Help } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { paint } from './terminal/output.ts';

/**
 * Functions that load the commands. Only needed commands are loaded, because loading all of them takes longer than
 * running most of them.
 */
const COMMANDS = {
  demo: async () => (await import('./demo/command.ts')).demoCommand(),
  serve: async () => (await import('./exchange/serve.ts')).serveCommand(),
  token: async () => (await import('./exchange/token.ts')).tokenCommand(),
  env: async () => (await import('./exchange/env.ts')).envCommand(),
  measure: async () => (await import('./party/measure.ts')).measureCommand(),
  report: async () => (await import('./report/command.ts')).reportCommand(),
  measurements: async () => (await import('./party/measurements.ts')).measurementsCommand(),
  'event-groups': async () => (await import('./party/eventGroups.ts')).eventGroupsCommand(),
  populations: async () => (await import('./party/populations.ts')).populationsCommand(),
  provider: async () => (await import('./provider/index.ts')).providerCommand(),
  requisitions: async () => (await import('./party/requisitions.ts')).requisitionsCommand(),
  descriptors: async () => (await import('./party/descriptors.ts')).descriptorsCommand(),
  computations: async () => (await import('./party/computations.ts')).computationsCommand(),
  login: async () => (await import('./login/command.ts')).loginCommand(),
  logout: async () => (await import('./login/command.ts')).logoutCommand(),
  profile: async () => (await import('./login/profile.ts')).profileCommand(),
  identity: async () => (await import('./identity/command.ts')).identityCommand(),
  keys: async () => (await import('./keys/command.ts')).keysCommand(),
  certificates: async () => (await import('./party/certificates.ts')).certificatesCommand(),
  'api-keys': async () => (await import('./party/apiKeys.ts')).apiKeysCommand(),
  verify: async () => (await import('./verify/command.ts')).verifyCommand(),
  watch: async () => (await import('./party/watch.ts')).watchCommand(),
  summary: async () => (await import('./party/summary.ts')).summaryCommand(),
  why: async () => (await import('./party/why.ts')).whyCommand(),
  webhooks: async () => (await import('./party/webhooks.ts')).webhooksCommand(),
  whoami: async () => (await import('./party/whoami.ts')).whoamiCommand(),
  duchy: async () => (await import('./duchy/index.ts')).duchyCommand(),
  admin: async () => (await import('./admin/index.ts')).adminCommand(),
  doctor: async () => (await import('./exchange/doctor.ts')).doctorCommand(),
  backup: async () => (await import('./exchange/backup.ts')).backupCommand(),
  restore: async () => (await import('./exchange/restore.ts')).restoreCommand(),
  migrate: async () => (await import('./exchange/migrate.ts')).migrateCommand(),
  console: async () => (await import('./console/command.ts')).consoleCommand(),
  completion: async () => (await import('./completion/command.ts')).completionCommand(),
};

/** The headings in the output of `mex --help`, and the commands under each heading. */
const GROUPS: Record<string, { [Name in keyof typeof COMMANDS]?: string }> = {
  'See it:': {
    console: 'a web page with your measurements, requests and results, on this machine',
  },
  'Try it:': {
    demo: 'a whole measurement with three publishers, compared with the truth',
    serve: 'start an exchange; --dev with demo parties',
    token: 'a bearer token for a demo party',
    env: 'demo parties as shell variables',
  },
  'Measure:': {
    measure: 'ask providers for a figure, and print it with its interval',
    report: 'all figures of a campaign from few measurements: define, plan, run, show, export, check',
    measurements: 'list, show, results, timeline, cancel',
    'event-groups': 'what can be measured: list, get, create, update, delete',
    populations: 'whom duchies can count across providers: list, show',
    watch: 'what changes for you, as it changes',
    summary: 'how many you have in each state, and what needs your attention',
    why: 'what something of yours waits for and for whom, or why it ended',
  },
  'Provide data:': {
    provider: 'fulfill requisitions from event files, within a privacy budget',
    requisitions: 'what is asked: list, show, timeline, refuse',
    descriptors: 'schemas of metadata: list, get, create, update, diff, decode',
  },
  'Compute together:': {
    computations: 'what duchies compute together: list, show',
    duchy: 'run a duchy, which counts people across providers with two others',
  },
  'Follow:': {
    webhooks: 'endpoints to which the exchange sends what changes: create, list, test, deliveries, listen',
  },
  'Sign in:': {
    login: 'sign in at an OpenID issuer, with a browser or a code',
    logout: 'forget the login, and revoke it',
    profile: 'settings that commands share: list, show, set, remove',
    whoami: 'whom the token in use stands for',
  },
  'Keys and trust:': {
    identity: 'make the keys and certificates of a party, or import them',
    keys: 'look into keys and certificates; make keysets',
    certificates: 'list, get, create, revoke, release-hold',
    'api-keys': 'keys of programs that call by gRPC: create, list, delete',
    verify: 'check signatures, certificates, hashes and keys step by step',
  },
  'Run an exchange:': {
    admin: 'parties, principals, certificates, roots, populations, audit, retention',
    doctor: 'look through the database for what should not be',
    backup: 'back up the embedded database',
    restore: 'make a data directory of a backup',
    migrate: 'bring the database schema to this version',
  },
  'This command:': { completion: 'completion for bash, zsh or fish' },
};

/**
 * Creates the `mex` program. Loads only the commands that appear in `words`, the command line. The other commands have
 * only a name and a summary, for the help. For completion, loads all commands.
 */
export async function createMex(words: readonly string[]): Promise<Command> {
  const mex = new Command('mex')
    .description(
      'Measure reach, frequency, impressions, watch duration and population across publishers, without anybody ' +
        'showing anybody their data.',
    )
    .version(manifest.version)
    .option(
      '--profile <name>',
      'the settings to use (else MEX_PROFILE, else those named default): mex profile',
    )
    .on('option:profile', (name: string) => {
      // Commands and the processes that they start read the profile's name from this variable.
      process.env.MEX_PROFILE = name;
    })
    .hook('preAction', requireGivenProfile)
    .showHelpAfterError('(add --help to see what there is)')
    .configureHelp({ styleTitle: (title) => paint('bold', title), subcommandTerm })
    .exitOverride()
    // With --json, keep Commander from printing errors, because mex.ts reports every error as JSON.
    .configureOutput(words.includes('--json') ? { writeErr: () => {} } : {})
    .addHelpText('after', FIRST_STEPS);
  for (const [heading, commands] of Object.entries(GROUPS)) {
    mex.commandsGroup(heading);
    for (const [name, summary] of Object.entries(commands)) {
      const isNeeded = words.includes(name) || words.includes('completion');
      const command = isNeeded ? await COMMANDS[name as keyof typeof COMMANDS]() : new Command(name);
      mex.addCommand(command.summary(summary));
    }
  }
  inherit(mex);
  // Add the help command after the groups, so that it is not part of a group.
  mex.helpCommand(true);
  return mex;
}

/**
 * Throws if --profile names a profile that does not exist, even if the command does not use the profile. `mex login`
 * and `mex profile set` are exempt, because they can create a profile.
 */
async function requireGivenProfile(mex: Command, command: Command): Promise<void> {
  const { profile } = mex.opts<{ profile?: string }>();
  if (profile === undefined || ['login', 'set'].includes(command.name())) return;
  const { requireProfile } = await import('./signIn/profiles.ts');
  await requireProfile(profile);
}

/** Formats a subcommand for the help. `mex --help` shows only names. `mex <command> --help` also shows arguments. */
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
  mex login                signs you in, and keeps it in a profile, with your exchange,
                           identity and roots (mex profile set): --profile names it
  MEX_URL, MEX_TOKEN       or --url and --token instead; without any of it the development
                           exchange of MEX_DATA_DIR, whose demo party --as names
  --identity, --root       your keys (mex identity) and the roots you trust, where
                           something is signed or decrypted; --as brings its own

--json prints the response of the API, lists one resource a line. For resources of
your own, the last part of the name is enough. See also mex <command> --help.

What fails is said on standard error alone, and the exit code is 1 (mex verify: 2
where it finds a fault; mex measure --help has its own); it is 0 only where the
command did what it says. With --json the error is a line of JSON: code, reason,
message, and fields with what is wrong. Times are a day (2026-01-31), a time
(2026-01-31T18:00:00Z) or how long ago (30m, 12h, 7d).`;

/** Copies settings to all subcommands, because Commander does so only for commands created with `.command()`. */
function inherit(parent: Command): void {
  for (const command of parent.commands) inherit(command.copyInheritedSettings(parent));
}
