/** Adds options to commands that need a party's keys, and loads these keys. */
import { correctInThread } from '@measurement-exchange/reports/node';
import { type Consumer, createConsumer } from '@measurement-exchange/sdk';
import type { Command } from 'commander';
import { type Acting, loadCredentials } from '../connection/credentials.ts';
import { chosenProfile } from '../signIn/profiles.ts';
import type { KeyOptions } from './caller.ts';
import type { CallOptions } from './command.ts';

export type ActingOptions = CallOptions & KeyOptions;

export function withKeys(command: Command): Command {
  return command
    .optionsGroup('Your keys:')
    .option('--identity <dir>', 'the folder that mex identity made (in development --as is enough)')
    .option(
      '--root <file...>',
      'root certificates you trust; dataProviders/x=x.pem is trusted for x alone, and duchies/x=x.pem accepts x; or a folder with dataProviders/x.pem, …',
    )
    .optionsGroup('Options:');
}

/**
 * Returns whether the options or the chosen profile name a demo party or an identity folder. An identity folder in a
 * profile counts only if the profile also has trusted roots, because commands cannot use the keys without trusted
 * roots.
 */
export async function hasKeys({ as, identity }: ActingOptions): Promise<boolean> {
  if (as !== undefined || identity !== undefined) return true;
  const profile = await chosenProfile();
  return profile?.as !== undefined || (profile?.identity !== undefined && profile.roots !== undefined);
}

export function actingAs({ root, ...options }: ActingOptions): Promise<Acting> {
  return loadCredentials({ ...options, ...(root && { roots: root }) });
}

export async function consumerOf(options: ActingOptions): Promise<Acting & { consumer: Consumer }> {
  const acting = await actingAs(options);
  const { name } = acting.credentials;
  if (!name.startsWith('measurementConsumers/')) {
    throw new Error(
      `${name} is not a measurement consumer: consumers create measurements and read results, providers fulfill them.`,
    );
  }
  return { ...acting, consumer: createConsumer({ ...acting, correctReport: correctInThread }) };
}
