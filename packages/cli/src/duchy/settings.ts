/** Reads a duchy's settings from a file, or returns the settings of a demo duchy. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { MPC_NOISE_MECHANISMS } from '@measurement-exchange/contract';
import type { DuchyConfig } from '@measurement-exchange/duchy';
import { loadConfig } from '@measurement-exchange/exchange/config';
import { readRoots } from '../connection/roots.ts';
import { readPartyFile } from '../files/partyFile.ts';

export interface DuchyOptions {
  config?: string;
  as?: string;
}

/** Loads the duchy package only when a command needs it, because most commands do not. */
export const loadDuchy = () => import('@measurement-exchange/duchy');

/**
 * Returns the settings. Throws one error that lists all problems with the settings and with the files that they name.
 */
export async function duchySettings(options: DuchyOptions): Promise<DuchyConfig> {
  const { config, problems } = await examineSettings(options);
  const { DuchyConfigError } = await loadDuchy();
  if (problems.length > 0) throw new DuchyConfigError(problems);
  return config;
}

export async function examineSettings({
  config: path,
  as,
}: DuchyOptions): Promise<{ config: DuchyConfig; problems: string[] }> {
  if (as !== undefined) return { config: await demoSettings(as), problems: [] };
  if (path === undefined) {
    throw new Error('Say which duchy: --config with its settings, or in development --as with a demo duchy.');
  }
  const { readDuchyConfig } = await loadDuchy();
  const { config, problems, invalid } = readDuchyConfig(path);
  const others = [...(await productionProblemsOf(config)), ...(await fileProblems(config))];
  // Report only one problem per invalid setting. Later checks would also report the setting as missing.
  const isNew = (problem: string) => !invalid.has(/^\w*/.exec(problem)![0]);
  // Prefix the file's path to messages about the file or its settings. A message about a setting starts with the
  // setting's name, which begins with a lowercase letter.
  const located = (problem: string) => (/^[a-z]|^The file/.test(problem) ? `${path}: ${problem}` : problem);
  return { config, problems: [...problems, ...others.filter(isNew)].map(located) };
}

async function demoSettings(as: string): Promise<DuchyConfig> {
  const { duchyConfig } = await loadDuchy();
  const { dataDir } = loadConfig(process.env, { mode: 'development' });
  const id = as.split('/').at(-1)!;
  const secretsKeyFile = join('duchies', id, 'secrets.key');
  return duchyConfig(
    { mode: 'development', dataDir: '.', secretsKeyFile, noiseMechanisms: [...MPC_NOISE_MECHANISMS] },
    dataDir,
  );
}

/** Returns undefined if the file is missing, or is in a folder that must not be entered. */
function modeOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mode;
  } catch {
    return undefined;
  }
}

async function productionProblemsOf(config: DuchyConfig): Promise<string[]> {
  if (config.mode !== 'production') return [];
  const { productionProblems } = await loadDuchy();
  const { hostProblems } = await import('@measurement-exchange/exchange/production');
  return [...hostProblems(config.databaseUrl, process), ...productionProblems(config, modeOf)];
}

async function fileProblems(config: DuchyConfig): Promise<string[]> {
  const { readSecretsKey } = await loadDuchy();
  const { identity, roots, secretsKeyFile } = config;
  const problems = (await readRoots(roots)).problems.map((problem) => `roots: ${problem}`);
  const check = async (setting: string, read: Promise<unknown>) =>
    read.catch((error: Error) => problems.push(`${setting}${error.message}`));
  if (identity !== undefined) await check('identity: ', readPartyFile(join(identity, 'party.json')));
  // Skip a missing file. In development, the duchy creates it, and in production, productionProblems reports it.
  if (modeOf(secretsKeyFile) !== undefined) await check('', readSecretsKey(config));
  return problems;
}
