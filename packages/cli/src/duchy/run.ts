import type { DuchyConfig } from '@measurement-exchange/duchy';
import type { ExchangeClient } from '@measurement-exchange/sdk';
import { Command, Option } from 'commander';
import { given } from '../calls/command.ts';
import { explained } from '../connection/client.ts';
import { loadCredentials } from '../connection/credentials.ts';
import { parsePort } from '../terminal/numbers.ts';
import { note } from '../terminal/output.ts';
import { runUntilStopped } from '../terminal/stopSignal.ts';
import { openDuchyDatabase } from './database.ts';
import { type DuchyOptions, duchySettings, loadDuchy } from './settings.ts';

interface RunOptions extends DuchyOptions {
  only?: 'face' | 'mill';
  port?: number;
  operationsPort?: number;
}

export function duchyRunCommand(): Command {
  return new Command('run')
    .description('run a duchy until it is stopped: take uploads, and compute with the other duchies')
    .option('--config <file>', 'the settings of the duchy, in JSON (see below)')
    .option('--as <party>', 'in development: run as this demo duchy')
    .addOption(
      new Option('--only <role>', 'one role, to scale out on one database').choices(['face', 'mill']),
    )
    .option('--port <port>', 'listen here instead of listen.port', parsePort)
    .option('--operations-port <port>', 'health and metrics here instead of operations.port', parsePort)
    .addHelpText('after', HELP)
    .action(run);
}

async function run(options: RunOptions): Promise<void> {
  await runUntilStopped((opened) => start(options, opened));
}

/** Runs several demo duchies in this process until it is stopped. Each duchy has its own keys and its own database. */
export async function runDemoDuchies(names: string[]): Promise<void> {
  await runUntilStopped(async (opened) => void (await Promise.all(names.map((as) => start({ as }, opened)))));
}

async function start(options: RunOptions, opened: AsyncDisposableStack): Promise<void> {
  const { as, only, port, operationsPort } = options;
  const config = await duchySettings(options);
  const { createLog, readSecretsKey, startDuchy } = await loadDuchy();
  const log = createLog(config.logLevel);
  const secretsKey = await readSecretsKey(config);
  const { credentials, trust, client } = await acting(config, as, (message) => log.warn(message));
  const connection = await openDuchyDatabase(config, { duchy: credentials.name, ...(as && { as }) }, opened);
  const portOf = async () =>
    port ?? (as === undefined ? config.listen.port : await registeredPort(client, credentials.name));
  const running = await startDuchy({
    config,
    credentials,
    client,
    trust,
    connection,
    secretsKey,
    log,
    only,
    listen: only === 'mill' ? undefined : { ...config.listen, port: await portOf() },
    operations: { ...config.operations, ...(operationsPort !== undefined && { port: operationsPort }) },
  });
  opened.defer(() => running.stop());
  if (process.stderr.isTTY)
    note(`${credentials.name} runs at ${running.url ?? running.operationsUrl}. Ctrl-C stops it.`);
}

async function acting(
  { url, tokenFile, signIn, identity, roots }: DuchyConfig,
  as: string | undefined,
  onWarning: (message: string) => void,
) {
  const options = given({ url, tokenFile, signIn, identity, roots, as, onWarning });
  const acting = await loadCredentials(options).catch((error: unknown) => {
    throw explained(error);
  });
  const { name } = acting.credentials;
  if (!name.startsWith('duchies/')) throw new Error(`${name} is not a duchy, and has no computations.`);
  return acting;
}

/** Returns the port of the endpoint that is registered for the duchy on the exchange. Used only in development. */
async function registeredPort(client: ExchangeClient, name: string): Promise<number> {
  const { endpoint } = (await client.getParty({ name })) as { endpoint?: string };
  const port = Number(endpoint === undefined ? Number.NaN : URL.parse(endpoint)?.port);
  if (port > 0) return port;
  throw new Error(`The exchange knows no endpoint of ${name} with a port: give --port.`);
}

const HELP = `
In development, with the demo parties of mex serve --dev:
  mex duchy run --as duchies/alpha

Otherwise with a file of settings, which mex duchy init makes and mex duchy check checks; paths are relative to it, and
what is marked * is required in production:
  {
    "url": "https://exchange.example.com",      * the exchange
    "tokenFile": "token",                       * read again for every call; or instead
    "signIn": {"issuer": "https://id.example.com", "clientId": "alpha", "clientSecretFile": "secret",
               "scope": "…", "audience": "…"},    tokens by client credentials, renewed in time: docs/sign-in.md
    "identity": "keys",                         * the folder that mex identity made
    "roots": ["roots"],                         * a folder with the root of each party that it trusts, such as
                                                  duchies/beta.pem; it is read again when it changes
    "endpoint": "https://alpha.example.com",    * where providers and the other duchies reach this one
    "listen": {"host": "0.0.0.0", "port": 8090, "tls": {"certFile": "tls.pem", "keyFile": "tls.key"}},
    "operations": {"host": "127.0.0.1", "port": 9090},  /healthz, /readyz and /metrics; else any port that is free
    "databaseUrl": "postgres://…",                else an embedded PostgreSQL in dataDir
    "dataDir": ".duchy",
    "secretsKeyFile": "secrets.key",            * openssl rand -base64 32; keep a copy apart from the database
    "mills": {"count": 1, "leaseSeconds": 60},
    "noiseMechanisms": ["DISCRETE_GAUSSIAN", "GEOMETRIC"],  computations with another one are failed
    "keepBlobsForHours": 0,                       uploads of computations that ended, for looking into them
    "keepComputationsForDays": 30,                what else is stored of computations that ended
    "limits": {"uploads": 32, "uploadsPerParty": 4, "uploadSeconds": 600, "maxDataBytes": 2147483648},
    "pollSeconds": 1, "logLevel": "info", "mode": "production"
  }

Any number of processes may run on one database, and each may be killed at any point: what it did is done by another.
At least one has to run without --only mill: it follows the computations at the exchange.`;
