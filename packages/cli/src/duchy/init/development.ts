/** Plans a new duchy for the development exchange that uses the same data directory. */
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { endpointOf } from '@measurement-exchange/exchange/devDuchies';
import { mintDevToken } from '../../connection/devToken.ts';
import { devRootFolder } from '../../connection/roots.ts';
import { readOwnDevFile } from '../../files/devFile.ts';
import { type InitOptions, type Plan, settingsOf } from './plan.ts';

/**
 * Returns the plan of a duchy that replaces the first demo duchy. The new duchy trusts the demo parties, and they trust
 * the new duchy's root.
 */
export async function developmentPlan(name: string, options: InitOptions): Promise<Plan> {
  if (options.url !== undefined)
    throw new Error('--url is not for --dev, which uses the exchange here: leave it out.');
  const dev = await readOwnDevFile();
  const [, secondWorker, aggregator] = dev.duchies.map((duchy) => duchy.name);
  if (secondWorker === undefined || aggregator === undefined) {
    throw new Error(
      'The exchange here has no demo duchies to compute with: start it without MEX_DUCHIES=off.',
    );
  }
  const rootFile = join(devRootFolder(), `${name}.pem`);
  const parties = [...dev.measurementConsumers, ...dev.dataProviders, ...dev.duchies];
  if (parties.some((party) => party.name === name) || (await exists(rootFile))) {
    throw new Error(`${name} exists here already: choose another name.`);
  }
  const endpoint = options.endpoint ?? (await endpointOf(undefined));
  const { protocol, hostname, port } = URL.parse(endpoint) ?? {};
  if (protocol !== 'http:' || !port) {
    throw new Error(
      '--endpoint must be an http address on this machine with --dev, such as http://127.0.0.1:8090.',
    );
  }
  const own = {
    mode: 'development',
    url: dev.baseUrl,
    endpoint,
    listen: { host: hostname!, port: Number(port) },
  };
  return {
    settings: settingsOf(options, own),
    token: await mintDevToken(name),
    roots: Object.fromEntries(parties.map((party) => [party.name, dev.rootCertificatePem])),
    principal: { issuer: `${dev.baseUrl}/dev`, subject: name },
    exchange: { protocols: { honestMajorityShareShuffle: { firstWorker: name, secondWorker, aggregator } } },
    async introduce(rootPem) {
      await mkdir(dirname(rootFile), { recursive: true, mode: 0o700 });
      await writeFile(rootFile, rootPem, { flag: 'wx' });
    },
  };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
