/** `mex login` and `mex logout`: sign a user in at an OpenID issuer, and out again. */
import { Command } from 'commander';
import { given, positiveInteger } from '../calls/command.ts';
import { connect, explained } from '../connection/client.ts';
import { withoutSlash } from '../signIn/addresses.ts';
import { readLogin, removeLogin, writeLogin } from '../signIn/logins.ts';
import { asking, discover, loadOpenId, type OpenIdClient } from '../signIn/openId.ts';
import {
  chosenName,
  findProfile,
  type NamedProfile,
  type Profile,
  writeProfile,
} from '../signIn/profiles.ts';
import { note, print } from '../terminal/output.ts';
import { signInWithBrowser } from './browser.ts';
import { signInWithCode } from './device.ts';
import { DEFAULT_REDIRECT } from './redirect.ts';
import { checkedSettings, issuerOptions } from './settings.ts';

interface LoginOptions
  extends Pick<Profile, 'url' | 'issuer' | 'clientId' | 'clientSecretFile' | 'scope' | 'redirect'> {
  device?: boolean;
  browser: boolean;
  timeout: number;
}

export function loginCommand(): Command {
  const command = new Command('login')
    .description('sign in at an OpenID issuer, and keep the login and these settings in the profile')
    .option('--device', 'sign in with a browser on another machine, by a code')
    .option('--no-browser', 'print the address, and do not open a browser')
    .option('--timeout <seconds>', 'how long to wait for the browser', positiveInteger, 300)
    .option('--url <url>', 'the exchange');
  return issuerOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: LoginOptions) => {
      await login(options).catch((error: unknown) => {
        throw explained(error);
      });
    });
}

const HELP = `
The first time, say where; the settings are kept in the profile, and the next time mex login is enough:
  mex login --url https://exchange.example.com --issuer https://id.example.com --client-id mex
  mex --profile lakeside login --url …      the same in another profile

docs/sign-in.md says what to set up at the issuer.`;

async function login(options: LoginOptions): Promise<void> {
  const profile = await settingsOf(options);
  const { name, url, issuer, clientId } = profile;
  if (profile.as !== undefined) {
    throw new Error(
      `The profile ${name} is for the demo party ${profile.as}: name another one with --profile.`,
    );
  }
  if (url === undefined) throw new Error('Say where the exchange is: --url (kept in the profile).');
  if (issuer === undefined || clientId === undefined) {
    throw new Error(
      'Say where you sign in: --issuer and --client-id (kept in the profile; ask the operator of the exchange).',
    );
  }
  const client: OpenIdClient = { ...profile, issuer, clientId };
  const config = await discover(client);
  const { scopes_supported = [] } = config.serverMetadata();
  const scope =
    profile.scope ?? (scopes_supported.includes('offline_access') ? 'openid offline_access' : 'openid');
  const flow = { client, config, scope, timeoutSeconds: options.timeout };
  const tokens = options.device
    ? await signInWithCode(flow)
    : await signInWithBrowser({
        ...flow,
        redirect: profile.redirect ?? DEFAULT_REDIRECT,
        opensBrowser: options.browser,
      });
  await writeProfile(profile);
  await writeLogin(name, { url: withoutSlash(url), issuer, clientId, ...tokens });
  if (tokens.refreshToken === undefined) {
    note('The issuer sent no refresh token: you will have to sign in again when this login expires.');
  }
  note(`Signed in at ${issuer}. The login is kept in the profile ${name}.`);
  if (process.env.MEX_TOKEN !== undefined) note('MEX_TOKEN is set, and commands use it instead: unset it.');
  // Keep the login even if the exchange does not know the user, because the operator can add the user later.
  const { principal } = await (await connect({ url, token: tokens.idToken })).whoAmI();
  print(`You are ${principal} at ${url}.`);
}

/** Returns the profile's settings. The environment overrides the profile, and the options override both. */
async function settingsOf(options: LoginOptions): Promise<NamedProfile> {
  const name = chosenName();
  const stored = await findProfile(name);
  const [url, issuer, clientId] = ['MEX_URL', 'MEX_ISSUER', 'MEX_CLIENT_ID'].map(
    (name) => process.env[name] || undefined,
  );
  const { device: _device, browser: _browser, timeout: _timeout, ...flags } = options;
  const settings = { ...stored, ...given({ url, issuer, clientId }), ...given(flags) };
  // An empty option removes a setting, and an empty variable counts as unset.
  const kept = Object.entries(settings).filter(([, value]) => value !== '');
  return { ...checkedSettings(Object.fromEntries(kept)), name };
}

export function logoutCommand(): Command {
  return new Command('logout')
    .description('forget the login of the profile, and revoke it at the issuer')
    .action(async () => {
      const name = chosenName();
      const profile = (await findProfile(name)) ?? { name };
      const login = await readLogin(profile);
      await removeLogin(name);
      if (login === undefined) return print(`Nobody is signed in with the profile ${name}.`);
      if (login.refreshToken !== undefined) await revoke({ ...profile, ...login }, login.refreshToken);
      print(`Signed out of ${login.issuer} with the profile ${name}.`);
    });
}

/**
 * Revokes a refresh token if the issuer supports it. Failures are only noted, because the login is already deleted
 * locally.
 */
async function revoke(client: OpenIdClient, refreshToken: string): Promise<void> {
  try {
    const config = await discover(client);
    if (config.serverMetadata().revocation_endpoint === undefined) return;
    const { tokenRevocation } = await loadOpenId();
    await asking(client, [refreshToken], () => tokenRevocation(config, refreshToken));
  } catch (error) {
    note(`The login is forgotten here, but could not be revoked at the issuer. ${(error as Error).message}`);
  }
}
