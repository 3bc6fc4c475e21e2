/** An exchange, three duchies, providers, and a consumer that asks for deduplicated counts. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureDatabase } from '@measurement-exchange/duchy';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { endpointOf } from '@measurement-exchange/exchange/internal/dev/duchies';
import { migrate } from '@measurement-exchange/exchange/maintenance';
import {
  type Consumer,
  createClient,
  createConsumer,
  createTrustStore,
  type ExchangeClient,
  readCredentials,
} from '@measurement-exchange/sdk';
import { spawnMex } from '@measurement-exchange/testkit/process';
import { atScale, type Context, type Outcome } from '../harness.ts';
import type { Postgres } from '../world/postgres.ts';
import { type Counted, type World, withWorld } from '../world.ts';
import { PEOPLE } from './audience.ts';
import { Duchy } from './duchy.ts';
import { ALPHA, BETA, type Family, GAMMA } from './family.ts';

const NAMES = [ALPHA, BETA, GAMMA];

export interface ComputationWorld extends World {
  family: Family;
  duchies: Duchy[];
  consumer: Consumer;
  consumerClient: ExchangeClient;
  consumerName: string;
  providerParties: ReturnType<typeof partiesOf>;
  /** The PEM root certificates by duchy. */
  roots: Record<string, string>;
  devRoot: string;
  populationFingerprint: Uint8Array;
}

export async function withComputations(
  context: Context,
  family: Family,
  work: (world: ComputationWorld) => Promise<Counted>,
): Promise<Outcome> {
  const endpoints: Record<string, string> = {};
  for (const name of NAMES) endpoints[name] = await endpointOf(undefined);
  const options = {
    replicas: 1,
    config: family.protocolsWith('NONE'),
    prepare: (postgres: Postgres) => registerDuchies(postgres, endpoints),
  };
  return withWorld(context, options, async (world) => {
    await using started = new AsyncDisposableStack();
    const { populationFingerprint } = await describePopulation(world);
    const roots = await makeIdentities(world);
    const devRoot = await devRootOf(world);
    const duchies = await makeDuchies(context, world, family, endpoints);
    for (const duchy of duchies) started.defer(() => duchy.end());
    await Promise.all(duchies.map((duchy) => duchy.start()));
    const [acme] = partiesOf(world, world.consumers);
    const trusted = Object.entries(roots).map(([party, pem]) => ({ party, pem }));
    const trust = createTrustStore([{ pem: devRoot }, ...trusted]);
    const { client, credentials } = acme!;
    try {
      return await work({
        ...world,
        family,
        duchies,
        consumer: createConsumer({ client, credentials, trust, duchies: NAMES }),
        consumerClient: client,
        consumerName: acme!.name,
        providerParties: partiesOf(world, world.providers),
        roots,
        devRoot,
        populationFingerprint,
      });
    } finally {
      if (world.violations.any) for (const duchy of duchies) saveLogs(context, duchy);
    }
  });
}

function saveLogs({ save }: Context, { processes }: Duchy): void {
  for (const { what, output } of processes) save(`${what.replaceAll(' ', '-')}.log`, output);
}

/** Adds the duchies to the database. An exchange whose configuration names duchies can start only after they exist. */
async function registerDuchies(postgres: Postgres, endpoints: Record<string, string>): Promise<void> {
  await migrate({ connection: { connectionString: postgres.url }, mode: 'development' });
  await postgres.query(
    `INSERT INTO parties (name, state, endpoint, create_time, update_time)
     SELECT name, 'ACTIVE', endpoint, now(), now() FROM unnest($1::text[], $2::text[]) AS d(name, endpoint)`,
    [Object.keys(endpoints), Object.values(endpoints)],
  );
}

function operatorOf({ exchanges }: World): ExchangeClient {
  const { url, dev } = exchanges[0]!;
  return createClient({ baseUrl: url, token: dev.operator.token });
}

async function describePopulation(world: World): Promise<{ populationFingerprint: Uint8Array }> {
  const body = { vidRanges: [{ start: 1, end: PEOPLE }], default: true };
  const { fingerprint } = await operatorOf(world).createPopulation({ body });
  return { populationFingerprint: fingerprint! };
}

function partiesOf({ exchanges }: World, parties: World['consumers']) {
  const { url } = exchanges[0]!;
  return parties.map((party) => ({
    name: party.name,
    credentials: readCredentials(party as typeof party & { encryptionPrivateKey: string }),
    client: createClient({ baseUrl: url, token: party.token }),
  }));
}

const folderOf = ({ home }: World, name: string) => join(home, name.replace('/', '-'));

/**
 * Makes the keys of each duchy, and registers each duchy's certificate as the operator. Returns the PEM root
 * certificates by duchy.
 */
async function makeIdentities(world: World): Promise<Record<string, string>> {
  const operator = operatorOf(world);
  const made = NAMES.map(async (name) => {
    const out = join(folderOf(world, name), 'identity');
    await mkdir(folderOf(world, name), { mode: 0o700 });
    const { code, stderr } = await spawnMex(['identity', 'create', name, '--out', out]).ended;
    if (code !== 0) throw new Error(`mex identity create ${name}: ${stderr}`);
    const { certificatePem, rootPem } = JSON.parse(await readFile(join(out, 'party.json'), 'utf8'));
    await operator.createCertificate({ parent: name, body: { x509Pem: certificatePem } });
    return [name, rootPem as string] as const;
  });
  return Object.fromEntries(await Promise.all(made));
}

async function devRootOf({ exchanges }: World): Promise<string> {
  const { dataDir } = exchanges[0]!;
  return JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8')).rootCertificatePem;
}

async function makeDuchies(
  context: Context,
  world: World,
  { roles }: Family,
  endpoints: Record<string, string>,
): Promise<Duchy[]> {
  const { exchanges, postgres, consumers, providers, violations } = world;
  const { url, dataDir } = exchanges[0]!;
  const issuer = await createDevIssuer({ keyFile: devKeyFile(dataDir), baseUrl: url });
  const devRoot = join(world.home, 'dev-root.pem');
  await writeFile(devRoot, await devRootOf(world));
  const ofParties = [...consumers, ...providers].map(({ name }) => `${name}=${devRoot}`);
  return Promise.all(
    NAMES.map(async (name) => {
      const others = NAMES.filter((other) => other !== name);
      const ofDuchies = others.map(
        (other) => `${other}=${join(folderOf(world, other), 'identity/root.pem')}`,
      );
      const database = `duchy_${name.split('/')[1]}`;
      await ensureDatabase({ connectionString: postgres.url }, database);
      const databaseUrl = new URL(postgres.url);
      databaseUrl.pathname = `/${database}`;
      return new Duchy({
        name,
        role: roles[name]!,
        folder: folderOf(world, name),
        endpoint: endpoints[name]!,
        databaseUrl: databaseUrl.href,
        exchangeUrl: url,
        token: await issuer.mint(name),
        roots: [...ofParties, ...ofDuchies],
        mills: atScale(context, { slice: 1, short: 1, long: 2 }),
        planted: context.planted,
        onCrash: (why) => violations.add(why),
        onOutput: () => {},
      });
    }),
  );
}
