/** Stores a user's logins, one for each profile, and renews them when they expire. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfExists } from '@measurement-exchange/exchange/privateFile';
import { withoutSlash } from './addresses.ts';
import { expiryOf } from './claims.ts';
import { withLock } from './lock.ts';
import { IssuerError, type OpenIdClient, type Tokens } from './openId.ts';
import { configFolder, DEFAULT_PROFILE, type NamedProfile, writeOwnJson } from './profiles.ts';

/** A login is valid for one client of one issuer, and its token is sent to one exchange only. */
export interface Login extends Tokens, Pick<OpenIdClient, 'issuer' | 'clientId'> {
  url: string;
}

/** Tokens are renewed this long before they expire, so that they do not expire during a request. */
const RENEW_BEFORE_MS = 30_000;

const loginFile = (profile: string) => join(configFolder(), 'logins', `${profile}.json`);

/**
 * Returns the profile's login. Returns undefined if the user has not signed in, or if the profile's exchange, issuer,
 * or client has changed since the sign-in.
 */
export async function readLogin(profile: NamedProfile): Promise<Login | undefined> {
  const json = await readIfExists(loginFile(profile.name));
  const login = json === undefined ? undefined : parsed(json);
  const { url = '', issuer, clientId } = profile;
  const isCurrent =
    login?.url === withoutSlash(url) && login.issuer === issuer && login.clientId === clientId;
  return isCurrent ? login : undefined;
}

function parsed(json: string): Login | undefined {
  try {
    return JSON.parse(json) as Login;
  } catch {
    // Treat a damaged file as missing, so that the user is asked to sign in again.
    return undefined;
  }
}

export function writeLogin(profile: string, login: Login): Promise<void> {
  return writeOwnJson(loginFile(profile), login);
}

export function removeLogin(profile: string): Promise<void> {
  return rm(loginFile(profile), { force: true });
}

export function loginCommand({ name }: { name: string }): string {
  return name === DEFAULT_PROFILE ? 'mex login' : `mex --profile ${name} login`;
}

export async function loginToken(profile: NamedProfile): Promise<string> {
  const login = await readLogin(profile);
  if (login === undefined) {
    throw new Error(`You are not signed in at ${profile.url}: run ${loginCommand(profile)}.`);
  }
  return isFresh(login) ? login.idToken : renewedToken(profile);
}

function renewedToken(profile: NamedProfile): Promise<string> {
  return withLock(`${loginFile(profile.name)}.lock`, async () => {
    // Read the login again, because another command may have renewed it while this command waited for the lock.
    const login = await readLogin(profile);
    if (login !== undefined && isFresh(login)) return login.idToken;
    if (login?.refreshToken === undefined) throw expired(profile);
    const { refresh } = await import('./refresh.ts');
    const client = { ...profile, issuer: login.issuer, clientId: login.clientId };
    const tokens = await refresh(client, login.refreshToken).catch((error: unknown) => {
      if (error instanceof IssuerError && error.reason === 'invalid_grant') throw expired(profile);
      throw error;
    });
    await writeLogin(profile.name, { ...login, ...tokens });
    return tokens.idToken;
  });
}

const isFresh = ({ idToken }: Login) => Date.now() < expiryOf(idToken) - RENEW_BEFORE_MS;

function expired(profile: NamedProfile): Error {
  return new Error(`Your login at ${profile.issuer} has expired: run ${loginCommand(profile)}.`);
}
