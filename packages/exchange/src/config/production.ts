/** Checks the requirements of production mode. One error lists all problems, each with its fix. */
import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Connections } from '../connections.ts';
import { rpcProblems } from '../rpc/start.ts';
import { type Config, ConfigError } from './config.ts';
import { databaseProblems, databaseWarnings, readDatabaseFacts } from './production/database.ts';
import { databaseUrlProblems } from './production/databaseUrl.ts';
import { issuerProblems } from './production/issuers.ts';
import { limitProblems, listenProblems } from './production/listen.ts';
import { type FileFacts, octal, type ProcessFacts, processProblems } from './production/process.ts';
import { keyProblems } from './production/secrets.ts';
import { noiseProblems } from './protocols.ts';

export function configProblems(config: Config, facts: ProcessFacts): string[] {
  return [
    ...processProblems(facts),
    ...issuerProblems(config, facts),
    ...listenProblems(config, facts),
    ...rpcProblems(config),
    ...keyProblems('pageTokenKey', config.pageTokenKey),
    ...keyProblems('secretsKey', config.secretsKey, 'exactly'),
    ...limitProblems(config),
    ...noiseProblems(config.protocols),
    ...storageProblems(config, facts),
  ];
}

function storageProblems(config: Config, facts: ProcessFacts): string[] {
  const { databaseUrl, databaseOwnerUrl, dataDir } = config;
  const problems: string[] = [];
  if (databaseUrl !== undefined) problems.push(...databaseUrlProblems('databaseUrl', databaseUrl, facts));
  if (databaseOwnerUrl !== undefined) {
    problems.push(...databaseUrlProblems('databaseOwnerUrl', databaseOwnerUrl, facts));
  }
  const cluster = join(dataDir, 'pg');
  const mode = databaseUrl === undefined ? facts.file(cluster)?.mode : undefined;
  if (mode !== undefined && (mode & 0o077) !== 0) {
    problems.push(
      `The embedded database ${cluster} is open to others (mode ${octal(mode)}). Run: chmod 700 ${cluster}`,
    );
  }
  return problems;
}

/**
 * Throws an error that lists all problems of the configuration and the process. Call this before opening the database.
 */
export function requireProductionConfig(config: Config, process: NodeJS.Process): void {
  const problems = configProblems(config, factsOf(process));
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Finds problems with a duchy's process and database URL. `configProblems` makes the same checks for the exchange. */
export function hostProblems(databaseUrl: string | undefined, process: NodeJS.Process): string[] {
  const facts = factsOf(process);
  const problems = processProblems(facts);
  if (databaseUrl !== undefined) problems.push(...databaseUrlProblems('databaseUrl', databaseUrl, facts));
  return problems;
}

function factsOf(process: NodeJS.Process): ProcessFacts {
  return {
    env: process.env,
    execArgv: process.execArgv,
    nodeVersion: process.versions.node,
    uid: process.geteuid?.(),
    file: fileFacts,
  };
}

export async function requireProductionDatabase(connections: Connections, config: Config): Promise<string[]> {
  const facts = await readDatabaseFacts(connections).catch((error) => {
    // If a host name has several addresses and every connection fails, Node's error has a code but no message. Print
    // the code in that case.
    throw new ConfigError([
      `The database cannot be queried: ${error.message || error.code}. Check databaseUrl.`,
    ]);
  });
  const problems = databaseProblems(facts);
  if (problems.length > 0) throw new ConfigError(problems);
  const warnings = databaseWarnings(facts);
  if (config.databaseOwnerUrl !== undefined) {
    warnings.push('databaseOwnerUrl is set, and serving does not need it. Give it to mex migrate only.');
  }
  return warnings;
}

function fileFacts(path: string): FileFacts | undefined {
  let mode = 0;
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    mode = found.mode;
    accessSync(path, constants.R_OK);
    return { mode, readable: true };
  } catch {
    // If the folder must not be entered, the mode is unknown, too.
    return { mode, readable: false };
  }
}
