/** Starts an exchange that commands find through environment variables, and creates a folder for the parties' keys. */
import { join } from 'node:path';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { useExchange as startsExchange, type TestExchange } from '@measurement-exchange/testkit/exchange';
import { path, told, useEnvironment } from './environment.ts';
import { mex } from './mexInProcess.ts';

export { path } from './environment.ts';

export let exchange: TestExchange;

/** Starts an exchange for the tests of one file. Call this function once, at the top of the file. */
export function useExchange(): void {
  exchange = startsExchange();
  useEnvironment(() => exchange);
}

export async function token(name: string): Promise<string> {
  return (await createDevIssuer({ keyFile: devKeyFile(exchange.dataDir), baseUrl: exchange.url })).mint(name);
}

export const whoAmI = async (name: string) =>
  (await exchange.call(await token(name), 'GET', '/v2alpha/whoami')).json;

/** Creates a party with its own keys and onboards it. Returns the folder with the keys. */
export async function onboarded(name: string, ...options: string[]): Promise<string> {
  const directory = path(name.replace('/', '-'));
  const subject = ['--issuer', `${exchange.url}/dev`, '--subject', name];
  await mex('identity', name, '--out', directory);
  await mex(
    'admin',
    'onboard',
    join(directory, 'party.json'),
    ...(await told(directory)),
    ...subject,
    ...options,
  );
  return directory;
}
