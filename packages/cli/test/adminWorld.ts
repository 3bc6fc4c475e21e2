/** An exchange that runs, for commands that find it by the environment, and a folder for the keys of parties. */
import { join } from 'node:path';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { useExchange as startsExchange, type TestExchange } from '@measurement-exchange/testkit/exchange';
import { path, told, useEnvironment } from './environment.ts';
import { mex } from './mexInProcess.ts';

export { path } from './environment.ts';

export let exchange: TestExchange;

/** Once in a file, at its top. */
export function useExchange(): void {
  exchange = startsExchange();
  useEnvironment(() => exchange);
}

export async function token(name: string): Promise<string> {
  return (await createDevIssuer({ keyFile: devKeyFile(exchange.dataDir), baseUrl: exchange.url })).mint(name);
}

export const whoAmI = async (name: string) =>
  (await exchange.call(await token(name), 'GET', '/v2alpha/whoami')).json;

/** A party with keys of its own, let in. Returns the folder of its keys. */
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
