/** The identities that the console can act as: demo parties, or the party of a profile or an identity folder. */
import { createClient } from '@measurement-exchange/sdk';
import { type ActingOptions, actingAs, hasKeys } from '../calls/keys.ts';
import { accessOf } from '../connection/client.ts';
import type { Acting } from '../connection/credentials.ts';
import { OPERATOR } from '../connection/token.ts';
import { findDevParty, readOwnDevFile } from '../files/devFile.ts';
import { chosenProfile } from '../signIn/profiles.ts';

export interface Identity {
  /** The page sends this ID to choose the identity. */
  id: string;
  principal: string;
  baseUrl: string;
  token: () => Promise<string>;
  isDemo: boolean;
  /** Loads the party's keys. Undefined if the keys are not on this machine. */
  acting: (() => Promise<Acting>) | undefined;
}

export interface IdentityOptions extends Omit<ActingOptions, 'as' | 'json'> {
  as?: string[];
}

/**
 * Returns at least one identity. If no option, environment variable or profile names a caller or an exchange, returns
 * all demo parties and the operator.
 */
export async function findIdentities({ as, ...options }: IdentityOptions): Promise<Identity[]> {
  const names = as ?? ((await isNamed(options)) ? undefined : await everybody());
  if (names !== undefined) return Promise.all(names.map((name) => demoIdentity(name, options)));
  const { baseUrl, token } = await accessOf(options);
  const { principal } = await createClient({ baseUrl, token }).whoAmI();
  return [
    {
      ...{ id: principal, principal, baseUrl, token, isDemo: false },
      acting: (await hasKeys(options)) ? () => actingAs(options) : undefined,
    },
  ];
}

async function isNamed({ identity, token, url }: Omit<IdentityOptions, 'as'>): Promise<boolean> {
  const { MEX_TOKEN, MEX_URL } = process.env;
  return (identity ?? token ?? url ?? MEX_TOKEN ?? MEX_URL ?? (await chosenProfile())) !== undefined;
}

async function everybody(): Promise<string[]> {
  const { measurementConsumers, dataProviders, duchies } = await readOwnDevFile();
  return [...[...measurementConsumers, ...dataProviders, ...duchies].map(({ name }) => name), OPERATOR];
}

async function demoIdentity(name: string, options: Omit<IdentityOptions, 'as'>): Promise<Identity> {
  const principal = name === OPERATOR ? name : findDevParty(await readOwnDevFile(), name).name;
  const { baseUrl, token } = await accessOf({ ...options, as: principal });
  return {
    ...{ id: principal, principal, baseUrl, token, isDemo: true },
    acting: name === OPERATOR ? undefined : () => actingAs({ ...options, as: principal }),
  };
}
