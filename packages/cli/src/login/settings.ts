/** Defines the command options whose values a profile stores, and checks these values. */
import { resolve } from 'node:path';
import { mapRootPath } from '@measurement-exchange/contract';
import type { Command } from 'commander';
import { safeAddress, withoutSlash } from '../signIn/addresses.ts';
import type { Profile } from '../signIn/profiles.ts';
import { redirectAddress } from './redirect.ts';

export function issuerOptions(command: Command): Command {
  return command
    .option('--issuer <url>', 'the OpenID issuer that the exchange trusts')
    .option('--client-id <id>', 'the ID of the client that mex is there')
    .option('--client-secret-file <file>', 'for issuers that give such clients a secret, as Google does')
    .option('--scope <scopes>', 'other scopes than openid and offline_access')
    .option(
      '--redirect <url>',
      'where the issuer sends the browser back to (http://127.0.0.1/callback, any port)',
    );
}

/**
 * Checks the settings, and makes paths absolute. Empty settings are not checked, because they remove a value from the
 * profile.
 */
export function checkedSettings(settings: Profile): Profile {
  const { url, identity, roots, issuer, clientSecretFile, redirect } = settings;
  if (url) safeAddress(url, 'The address of the exchange');
  if (issuer) safeAddress(issuer, 'The issuer');
  if (redirect) redirectAddress(redirect);
  return {
    ...settings,
    ...(url && { url: withoutSlash(url) }),
    ...(identity && { identity: resolve(identity) }),
    ...(clientSecretFile && { clientSecretFile: resolve(clientSecretFile) }),
    ...(roots && {
      roots: roots.filter(Boolean).map((root) => mapRootPath(root, (path) => resolve(path))),
    }),
  };
}
