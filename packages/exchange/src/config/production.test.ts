import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemsOf, sound } from '../../test/production/settings.ts';
import { ConfigError, loadConfig } from './config.ts';
import { readConfigFile } from './file.ts';
import { requireProductionConfig } from './production.ts';

it('configProblems reports all problems, not only the first one', () => {
  const problems = problemsOf({ issuers: [], pageTokenKey: undefined, host: '0.0.0.0' }, { uid: 0 });
  expect(problems).toHaveLength(4);
});

describe('the files that a production configuration names', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'mex-production-test-'));
    writeFileSync(join(folder, 'config.json'), '{}');
    writeFileSync(join(folder, 'key.pem'), '');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function problemsHere(): string[] {
    const file = (name: string) => join(folder, name);
    const config = {
      ...loadConfig({}),
      ...sound,
      tls: { certFile: file('no.pem'), keyFile: file('key.pem') },
    };
    try {
      const around = { env: { MEX_CONFIG: file('config.json') }, execArgv: [], versions: { node: '24.0.0' } };
      requireProductionConfig(config, around as unknown as NodeJS.Process);
      return [];
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      return (error as ConfigError).problems;
    }
  }

  it('must exist, and must not be readable by other users', () => {
    chmodSync(join(folder, 'config.json'), 0o604);
    chmodSync(join(folder, 'key.pem'), 0o604);
    expect(problemsHere()).toEqual([
      expect.stringMatching(/config\.json .*\(mode 0604\)/),
      expect.stringMatching(/tls\.certFile .*no\.pem cannot be read/),
      expect.stringMatching(/tls\.keyFile .*\(mode 0604\)/),
    ]);
    chmodSync(join(folder, 'config.json'), 0o600);
    chmodSync(join(folder, 'key.pem'), 0o600);
    expect(problemsHere()).toEqual([expect.stringMatching(/no\.pem/)]);
  });
});

describe('docs/production.md', () => {
  const page = readFileSync(new URL('../../../../docs/production.md', import.meta.url), 'utf8');

  it('has an example configuration in which only the password and the keys are rejected', () => {
    const folder = mkdtempSync(join(tmpdir(), 'mex-production-test-'));
    const path = join(folder, 'config.json');
    writeFileSync(path, /```json\n(.*?)```/s.exec(page)![1]!);
    const problems: string[] = [];
    const example = readConfigFile(path, problems);
    rmSync(folder, { recursive: true });
    expect(problems).toEqual([]);
    expect(problemsOf(example)).toEqual([
      expect.stringMatching(/^pageTokenKey is an example/),
      expect.stringMatching(/^secretsKey is an example/),
      expect.stringMatching(/^databaseUrl has a password that anyone would guess/),
    ]);
  });

  it('names every setting with its default', () => {
    for (const [key, value] of Object.entries(loadConfig({}))) {
      const [, , , shown] = page.match(new RegExp(`^\\| \`${key}\` .*`, 'm'))?.[0].split('|') ?? [];
      const written = shown?.trim().replaceAll('`', '');
      const text = typeof value === 'string' ? value : JSON.stringify(value)?.replace(/([:,])/g, '$1 ');
      expect(written, key).toBe(text ?? '');
    }
  });
});
