/** Reads a duchy's settings from a file, or returns those of a demo duchy on the development exchange. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { MPC_NOISE_MECHANISMS } from '@measurement-exchange/contract';
import type { DuchyConfig } from '@measurement-exchange/duchy';
import { loadConfig } from '@measurement-exchange/exchange/config';

export interface DuchyOptions {
  config?: string;
  as?: string;
}

/** Loads the duchy package only when a duchy command runs, because no other command needs it. */
export const loadDuchy = () => import('@measurement-exchange/duchy');

export async function duchySettings({ config, as }: DuchyOptions): Promise<DuchyConfig> {
  const { DuchyConfigError, duchyConfig, productionProblems, readDuchyConfig } = await loadDuchy();
  if (as !== undefined) {
    const { dataDir } = loadConfig(process.env, { mode: 'development' });
    const id = as.split('/').at(-1)!;
    const secretsKeyFile = join('duchies', id, 'secrets.key');
    return duchyConfig(
      { mode: 'development', dataDir: '.', secretsKeyFile, noiseMechanisms: [...MPC_NOISE_MECHANISMS] },
      dataDir,
    );
  }
  if (config === undefined) {
    throw new Error('Say which duchy: --config with its settings, or in development --as with a demo duchy.');
  }
  const settings = readDuchyConfig(config);
  if (settings.mode === 'production') {
    const { hostProblems } = await import('@measurement-exchange/exchange/production');
    const problems = [
      ...hostProblems(settings.databaseUrl, process),
      ...productionProblems(settings, (path) => statSync(path, { throwIfNoEntry: false })?.mode),
    ];
    if (problems.length > 0) throw new DuchyConfigError(problems);
  }
  return settings;
}
