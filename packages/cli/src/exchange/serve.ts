import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { AddPages, Running } from '@measurement-exchange/exchange';
import { type Config, loadConfig } from '@measurement-exchange/exchange/config';
import { telemetry } from '@measurement-exchange/server/telemetry';
import { Command } from 'commander';
import type { Logger } from 'pino';
import { startDemoDuchies } from '../duchy/demoDuchies.ts';
import { parsePort } from '../terminal/numbers.ts';
import { print } from '../terminal/output.ts';
import { StopSignal } from '../terminal/stopSignal.ts';
import { banner } from './banner.ts';

export function serveCommand(): Command {
  return new Command('serve')
    .description('start the exchange (production settings unless --dev)')
    .option('--dev', 'development mode: demo parties, a built-in token issuer, loopback only')
    .option('--port <port>', 'listen here instead of PORT', parsePort)
    .option('--json', 'log lines as JSON also in development mode')
    .addCommand(
      keptCommand('publishers', async () => (await import('../publishers/run.ts')).runPublishers),
      { hidden: true },
    )
    .addCommand(
      keptCommand('duchies', async () => (await import('../duchy/run.ts')).runDemoDuchies),
      { hidden: true },
    )
    .action(async (options: { dev?: boolean; port?: number; json?: boolean }) => {
      const given = loadConfig(process.env, {
        ...(options.dev ? { mode: 'development' } : {}),
        ...(options.port === undefined ? {} : { port: options.port }),
      });
      const quiet = given.mode === 'development' && !options.json && process.env.MEX_LOG_LEVEL === undefined;
      tuneHeap();
      // Import the exchange only here, because the subcommands `publishers` and `duchies` do not need its HTTP server.
      const { createLog, demoDuchies, start } = await import('@measurement-exchange/exchange');
      const log = createLog(quiet ? 'warn' : given.logLevel);
      const config = await withDatabases(given, demoDuchies(given), log);
      const pages = await consoleOf(config, log, options.json === true);
      const running = await start(config, log, pages);
      // Handle signals before printing the banner, because a program that reads the banner may stop the exchange right
      // away.
      using stopped = new StopSignal();
      await describeEvents(running, log);
      if (running.development !== undefined) {
        print(banner(config, running.url, running.development, pages !== undefined));
      }
      setTimeout(giveBackMemory, 1_000).unref();
      const started = await startPrograms(config, running, log);
      await stopped.wait();
      await Promise.all(started.map((programs) => programs.stop()));
      await running.stop();
      await telemetry?.stop();
      process.exit(0);
    });
}

/**
 * Creates a subcommand that a development exchange runs as a separate process. The subcommand's code is loaded only
 * when it runs, because the exchange itself does not need that code.
 */
function keptCommand(what: string, load: () => Promise<(names: string[]) => Promise<void>>): Command {
  return new Command(what)
    .description(`run demo ${what} until it is stopped`)
    .argument('<name...>', 'their names')
    .action(async (names: string[]) => (await load())(names));
}

/**
 * Loads the console if it is turned on, which is the default in development. If loading fails, a development exchange
 * starts without the console.
 */
async function consoleOf(config: Config, log: Logger, isJson: boolean): Promise<AddPages | undefined> {
  const isDevelopment = config.mode === 'development';
  if (!(config.console ?? isDevelopment)) return undefined;
  const { consolePages } = await import('./consolePages.ts');
  // With --json, write messages about building the console to the log, because every line of output must be JSON.
  const tell = isJson ? (message: string) => log.info({ component: 'console' }, message) : undefined;
  return consolePages(config, tell).catch((error: Error) => {
    if (!isDevelopment) throw error;
    log.warn({ component: 'console', reason: error.message }, 'started without the console');
    return undefined;
  });
}

/**
 * Creates the demo duchies' databases. If the database role is not allowed to create databases, turns the demo duchies
 * off, so that measurements do not wait for these duchies forever.
 */
async function withDatabases(config: Config, duchies: string[], log: Logger): Promise<Config> {
  const { databaseUrl } = config;
  if (databaseUrl === undefined || duchies.length === 0) return config;
  const { ensureDemoDatabase, NoDemoDatabase } = await import('../duchy/database.ts');
  try {
    for (const duchy of duchies) await ensureDemoDatabase(databaseUrl, duchy);
    return config;
  } catch (error) {
    // The exchange itself reports any other database error when it starts.
    if (!(error instanceof NoDemoDatabase)) return config;
    log.warn({ component: 'duchy' }, `Started without demo duchies. ${error.message}`);
    return { ...config, demoDuchies: false };
  }
}

/**
 * Creates the demo publishers' event groups, because the example command in the startup banner needs them. A failure is
 * only logged, because the exchange can serve requests without them.
 */
async function describeEvents({ development }: Running, log: Logger): Promise<void> {
  const { publishers = [] } = development ?? {};
  if (publishers.length === 0) return;
  const { describePublishers } = await import('../publishers/kept.ts');
  await describePublishers(publishers).catch((error: unknown) => {
    log.warn({ component: 'publishers', reason: String(error) }, 'the demo publishers are not described');
  });
}

/** Starts the demo duchies and publishers in development mode. The exchange can serve requests without them. */
async function startPrograms({ dataDir }: Config, { development }: Running, log: Logger) {
  const started: { stop(): Promise<void> }[] = [];
  const { parties, publishers = [] } = development ?? {};
  const duchies = parties?.duchies.map(({ name }) => name) ?? [];
  if (duchies.length > 0) {
    started.push(startDemoDuchies({ dataDir, names: duchies, log }));
  }
  if (publishers.length > 0) {
    const { startPublishers } = await import('../publishers/kept.ts');
    started.push(startPublishers({ dataDir, names: publishers, log }));
  }
  return started;
}

/**
 * Lets the heap triple in size before each major garbage collection. By default, V8 collects garbage when the heap has
 * grown by a fifth, which happened several times a second under load.
 */
function tuneHeap(): void {
  setFlagsFromString('--heap-growing-percent=200');
  // Turn off pretenuring, which allocates some objects directly in the old generation. Such objects can keep whole
  // requests in memory until the next major collection.
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** Frees about 40 MB that only startup needed. V8 would not release this memory while the process is idle. */
function giveBackMemory(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
