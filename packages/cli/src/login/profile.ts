/** `mex profile`: manages settings that commands share, so that users need not repeat them. */
import { Command } from 'commander';
import { given, group } from '../calls/command.ts';
import { expiryOf } from '../signIn/claims.ts';
import { readLogin, removeLogin } from '../signIn/logins.ts';
import {
  chosenName,
  findProfile,
  type NamedProfile,
  type Profile,
  readProfiles,
  removeProfile,
  requireProfile,
  requireProfileName,
  writeProfile,
} from '../signIn/profiles.ts';
import { print, printFacts, printJson, printTable, visible } from '../terminal/output.ts';
import { checkedSettings, issuerOptions } from './settings.ts';

export function profileCommand(): Command {
  return group(
    'profile',
    'settings that commands share: the exchange, your keys, whom you trust, where you sign in',
    [list(), show(), set(), remove()],
  ).addHelpText(
    'after',
    `
Commands use the profile that --profile or MEX_PROFILE names, or else the one named default, if there is one. An option or
a variable such as MEX_URL wins over the profile.`,
  );
}

function list(): Command {
  return new Command('list')
    .description('list the profiles')
    .option('--json', 'print them as JSON')
    .action(async (options: { json?: boolean }) => {
      const profiles = Object.entries(await readProfiles());
      if (options.json) return printJson(Object.fromEntries(profiles));
      if (profiles.length === 0)
        return print('There are no profiles yet: mex profile set <name>, or mex login.');
      const rows = profiles.map(async ([name, profile]) => [
        name,
        profile.url,
        profile.identity ?? profile.as,
        await loginState({ ...profile, name }),
      ]);
      printTable(['NAME', 'EXCHANGE', 'IDENTITY', 'LOGIN'], await Promise.all(rows));
    });
}

function show(): Command {
  return new Command('show')
    .description('show a profile, by default the one that commands use')
    .argument('[name]')
    .option('--json', 'print it as JSON')
    .action(async (given: string | undefined, options: { json?: boolean }) => {
      const profile = await requireProfile(given ?? chosenName());
      const { name, roots, ...facts } = profile;
      if (options.json) return printJson({ ...facts, roots });
      const shown = Object.entries(facts).map(([setting, value]) => [setting, visible(value)]);
      printFacts(name, {
        ...Object.fromEntries(shown),
        roots: roots && visible(roots.join(' ')),
        login: await loginState(profile),
      });
    });
}

function set(): Command {
  const command = new Command('set')
    .description("set a profile's settings; those that are not given stay, and '' removes one")
    .argument('<name>')
    .option('--url <url>', 'the exchange')
    .option('--identity <dir>', 'the folder that mex identity made')
    .option('--root <file...>', 'root certificates you trust, as other commands take them: all of them')
    .option('--as <party>', 'instead: a demo party of the development exchange here');
  return issuerOptions(command).action(
    async (text: string, { root, ...options }: Omit<Profile, 'roots'> & { root?: string[] }) => {
      const name = requireProfileName(text);
      const settings = {
        ...(await findProfile(name)),
        ...checkedSettings(given({ ...options, roots: root })),
      };
      const kept = Object.entries(settings).filter(([, value]) => String(value) !== '');
      const profile: NamedProfile = { ...Object.fromEntries(kept), name };
      if (profile.as !== undefined && (profile.identity ?? profile.issuer) !== undefined) {
        throw new Error(
          `The profile ${name} has --as and ${profile.identity ? '--identity' : '--issuer'}: remove one of them ('').`,
        );
      }
      await writeProfile(profile);
      print(`Set the profile ${name}. To use it: mex --profile ${name} …, or export MEX_PROFILE=${name}.`);
    },
  );
}

function remove(): Command {
  return new Command('remove')
    .description('remove a profile and its login (mex logout revokes it, too)')
    .argument('<name>')
    .action(async (text: string) => {
      const { name } = await requireProfile(text);
      await removeLogin(name);
      await removeProfile(name);
      print(`Removed the profile ${name}.`);
    });
}

async function loginState(profile: NamedProfile): Promise<string> {
  if (profile.issuer === undefined) return '-';
  const login = await readLogin(profile);
  if (login === undefined) return 'signed out';
  const until = new Date(expiryOf(login.idToken)).toISOString().slice(0, 16).replace('T', ' ');
  if (login.refreshToken !== undefined) return 'signed in';
  return `until ${until} UTC`;
}
