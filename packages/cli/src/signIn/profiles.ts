/** Profiles: settings that a user's commands share, such as the exchange's address, the user's keys, and the issuer. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { decode, parseJson, type Violation } from '@measurement-exchange/contract';
import * as s from '@measurement-exchange/contract/schema';
import { readIfExists, writePrivateFile } from '@measurement-exchange/exchange/privateFile';

const text = () => s.text(4096, 1);

/** The settings in a profile. Paths are absolute, because commands run in any folder. */
const Profile = s.object(
  s.partial({
    url: text(),
    /** The demo party of the development exchange to act as. A demo party needs neither an identity nor a login. */
    as: text(),
    identity: text(),
    /**
     * Files with trusted roots. If an entry begins with a party's name, as in `duchies/one=one.pem`, the root is
     * trusted for this party only. If the party is a duchy, the user also accepts this duchy in computations.
     */
    roots: s.array(text()),
    /** The OpenID issuer, and the client ID that `mex login` uses there. */
    issuer: text(),
    clientId: text(),
    /**
     * A file with the client's secret. Only some issuers, such as Google, give a secret to clients on users' machines.
     */
    clientSecretFile: text(),
    /** The OAuth scope. Defaults to `openid`, plus `offline_access` if the issuer supports it. */
    scope: text(),
    /** The local address to which the issuer redirects the browser. Without a port, any free port is used. */
    redirect: text(),
  }),
);
export type Profile = s.Static<typeof Profile>;
export type NamedProfile = Profile & { name: string };

const Profiles = s.recordOf(Profile);

/**
 * The profile that commands use if neither --profile nor MEX_PROFILE names another one. This profile need not exist.
 */
export const DEFAULT_PROFILE = 'default';

export function configFolder(): string {
  return join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'mex');
}

const profilesFile = () => join(configFolder(), 'profiles.json');

export function chosenName(): string {
  return requireProfileName(process.env.MEX_PROFILE || DEFAULT_PROFILE);
}

/** Returns `name`. Throws unless `name` is a valid name of a profile. The profile's login file has the same name. */
export function requireProfileName(name: string): string {
  if (/^[A-Za-z0-9][\w-]{0,62}$/.test(name)) return name;
  throw new Error(`${name} cannot name a profile: use letters, digits, - and _, 63 at most.`);
}

export async function readProfiles(): Promise<Record<string, Profile>> {
  const file = profilesFile();
  const json = await readIfExists(file).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file} cannot be read (${error.code}): check the folder and its owner.`);
  });
  if (json === undefined) return {};
  const violations: Violation[] = [];
  const profiles = decode(Profiles, parsed(json, file), violations);
  if (profiles !== undefined) return profiles;
  const [{ field, description } = { field: '', description: '' }] = violations;
  throw new Error(`${file}: ${field || 'it'} ${description}. Correct it, or remove the file.`);
}

function parsed(json: string, file: string) {
  try {
    return parseJson(json);
  } catch (error) {
    throw new Error(`${file} is not JSON (${(error as Error).message}): correct it, or remove it.`);
  }
}

export async function findProfile(name: string): Promise<NamedProfile | undefined> {
  const profiles = await readProfiles();
  return Object.hasOwn(profiles, name) ? { ...profiles[name], name } : undefined;
}

export async function requireProfile(name: string): Promise<NamedProfile> {
  const profile = await findProfile(requireProfileName(name));
  if (profile !== undefined) return profile;
  const names = Object.keys(await readProfiles()).join(', ');
  const known = names === '' ? '' : ` There are: ${names}.`;
  throw new Error(`There is no profile ${name}.${known} Make it: mex profile set ${name} --url <url>.`);
}

/**
 * Returns the profile that commands use. If MEX_PROFILE names a profile that does not exist, throws. If MEX_PROFILE is
 * not set and the default profile does not exist, returns undefined.
 */
export async function chosenProfile(): Promise<NamedProfile | undefined> {
  const name = chosenName();
  return process.env.MEX_PROFILE ? requireProfile(name) : findProfile(name);
}

export async function writeProfile({ name, ...profile }: NamedProfile): Promise<void> {
  await writeProfiles({ ...(await readProfiles()), [name]: profile });
}

export async function removeProfile(name: string): Promise<void> {
  const { [name]: _removed, ...others } = await readProfiles();
  await writeProfiles(others);
}

function writeProfiles(profiles: Record<string, Profile>): Promise<void> {
  return writeOwnJson(profilesFile(), profiles);
}

export async function writeOwnJson(file: string, value: object): Promise<void> {
  await writePrivateFile(file, `${JSON.stringify(value, null, 2)}\n`).catch(
    (error: NodeJS.ErrnoException) => {
      throw new Error(`${file} cannot be written (${error.code}): check the folder and its owner.`);
    },
  );
}
