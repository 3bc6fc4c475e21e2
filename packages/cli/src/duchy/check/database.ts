/** Checks a duchy's database without changing its contents. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openDuchyDatabase } from '../database.ts';
import { type DuchyOptions, loadDuchy } from '../settings.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { Subject } from './subject.ts';

const { ok, warning, problem } = findingsOf('database');

export async function checkDatabase({ name, config }: Subject, options: DuchyOptions): Promise<Finding[]> {
  const { DatabaseUnused, DUCHY_CHECKS, examineDuchy, readSecretsKey } = await loadDuchy();
  const isNew = config.databaseUrl === undefined && !existsSync(join(config.dataDir, 'pg'));
  if (isNew && options.as === undefined)
    return [warning(`It is made by mex duchy run, in ${config.dataDir}.`)];
  try {
    await using opened = new AsyncDisposableStack();
    const secretsKey = await readSecretsKey(config);
    const connection = await openDuchyDatabase(config, { ...options, duchy: name }, opened);
    const found = await examineDuchy(connection, { duchy: name, secretsKey });
    if (found.length === 0) return [ok(`${DUCHY_CHECKS} checks found nothing wrong.`)];
    return found.map(({ check, severity, meaning, rows, examples, remedy }) => {
      const message = `${check}: ${meaning} ${rows} found: ${examples.join(', ')}\n${remedy}`;
      return severity === 'error' ? problem(message) : warning(message);
    });
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    if (error instanceof DatabaseUnused) return [warning(message)];
    return [problem(`It cannot be used: ${message || code}`)];
  }
}
