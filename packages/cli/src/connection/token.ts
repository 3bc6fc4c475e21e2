/** Chooses the token that a command sends to the exchange. */
import { readFile } from 'node:fs/promises';
import type { SignIn } from '@measurement-exchange/server/signIn';
import { type DevFile, devFileReader, findDevParty } from '../files/devFile.ts';
import { withoutSlash } from '../signIn/addresses.ts';
import { clientCredentials, signInOfEnvironment } from '../signIn/clientCredentials.ts';
import { loginToken } from '../signIn/logins.ts';
import type { NamedProfile } from '../signIn/profiles.ts';

export const OPERATOR = 'operator';

export interface TokenOptions {
  token?: string;
  /**
   * The name of a demo party, or `operator`. The token comes from the development exchange's file in the data
   * directory.
   */
  as?: string;
  /** Path of a file containing the bearer token. The file is reread on every call, so the token can be rotated. */
  tokenFile?: string;
  signIn?: SignIn;
}

interface Place {
  baseUrl: string;
  /** True if an option, a variable, or a profile names the exchange. Otherwise, the development exchange is used. */
  isNamed: boolean;
  profile: NamedProfile | undefined;
  dev: DevFile | undefined;
  dataDir: string;
}

interface Chosen {
  token: string | (() => Promise<string>);
  isProgram?: boolean;
}

/**
 * Chooses the first token that is set, in this order: command options, environment, profile, development exchange.
 */
export function tokenSource(options: TokenOptions, place: Place): Chosen {
  const { token, as, tokenFile, signIn } = options;
  if (token !== undefined) return { token };
  if (as !== undefined) return { token: devToken(place, as) };
  if (tokenFile !== undefined && place.isNamed) {
    return { token: async () => (await readText(tokenFile)).trim(), isProgram: true };
  }
  if (signIn !== undefined) return { token: clientCredentials(signIn), isProgram: true };
  return { token: environmentToken() ?? profileToken(place) ?? devToken(place) };
}

function environmentToken(): Chosen['token'] | undefined {
  if (process.env.MEX_TOKEN !== undefined) return process.env.MEX_TOKEN;
  const signIn = signInOfEnvironment();
  return signIn && clientCredentials(signIn);
}

function profileToken(place: Place): Chosen['token'] | undefined {
  const { profile, baseUrl } = place;
  if (profile?.as !== undefined) return devToken(place, profile.as);
  const isSameExchange = profile?.url !== undefined && withoutSlash(profile.url) === baseUrl;
  return isSameExchange && profile.issuer !== undefined ? () => loginToken(profile) : undefined;
}

/**
 * Returns a function that reads the current token of the demo party `as`. Without `as`, the function reads the token of
 * the operator. Throws if `baseUrl` is not the address of the development exchange, or if the party does not exist.
 */
function devToken({ baseUrl, dev, dataDir }: Place, as?: string): Chosen['token'] {
  if (baseUrl !== dev?.baseUrl) {
    throw new Error(
      as === undefined
        ? `Say who you are at ${baseUrl}: run mex login, set MEX_TOKEN to a bearer token, or give --token.`
        : `--as is for the development exchange here, not for ${baseUrl}: give --token instead.`,
    );
  }
  const tokenOf = (file: DevFile) =>
    as === undefined || as === OPERATOR ? file.operator.token : findDevParty(file, as).token;
  tokenOf(dev);
  const current = devFileReader(dataDir);
  return async () => tokenOf(await current());
}

export function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${path} cannot be read (${error.code}).`);
  });
}
