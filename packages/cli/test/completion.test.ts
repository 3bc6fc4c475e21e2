/**
 * Tests the completion scripts. Runs the script for bash in bash, which must be installed on the machine that runs the
 * tests.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandTree } from '../src/completion/tree.ts';
import { createMex } from '../src/program.ts';
import { mex } from './mexInProcess.ts';

let folder: string;
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mex-completion-'));
  writeFileSync(file('mex.bash'), await mex('completion', 'bash'));
  const named = (name: string) => ({ name, displayName: 'measurementConsumers/decoy', token: 'secret' });
  const dev = {
    measurementConsumers: [named('measurementConsumers/acme')],
    dataProviders: [named('dataProviders/streamly'), named('dataProviders/chirper')],
  };
  writeFileSync(file('dev.json'), JSON.stringify(dev, null, 2));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the completions that bash offers for the last of these words. Bash runs in the folder of the test. */
function offered(...words: string[]): string[] {
  const script = `source ./mex.bash
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
    _mex; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { PATH: process.env.PATH, MEX_DATA_DIR: folder };
  const out = execFileSync('bash', ['--norc', '-uc', script, 'bash', 'mex', ...words], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return out.split('\n').filter(Boolean);
}

describe('completion in bash', () => {
  it('offers the commands of mex and the subcommands of each', () => {
    expect(offered('')).toEqual(
      expect.arrayContaining(['demo', 'serve', 'measure', 'provider', 'verify', 'help']),
    );
    expect(offered('')).not.toContain('--help');
    expect(offered('measur')).toEqual(['measure', 'measurements']);
    expect(offered('measurements', '')).toEqual(['list', 'show', 'results', 'timeline', 'cancel', 'help']);
    expect(offered('admin', 'parties', 's')).toEqual(['suspend']);
    expect(offered('identity', 'i')).toEqual(['import']);
    expect(offered('identity', 'import', '--enc')).toEqual(['--encryption-private', '--encryption-public']);
    expect(offered('nonsense', 'x')).toEqual([]);
  });

  it('offers options after a dash, or if nothing else is possible', () => {
    expect(offered('measure', 'reach', '--ma')).toEqual(['--max-frequency', '--max-watch-duration']);
    expect(offered('--v')).toEqual(['--version']);
    // An alias of a command has the same options.
    expect(offered('event-groups', 'show', '--js')).toEqual(offered('event-groups', 'get', '--js'));
    expect(offered('event-groups', 'show', '--js')).toEqual(['--json']);
    expect(offered('doctor', '')).toEqual(['--json', '--help', '-h']);
  });

  it('offers the known values of options and arguments', () => {
    expect(offered('measure', '')).toEqual(['reach', 'frequency', 'impressions', 'duration', 'population']);
    expect(offered('requisitions', 'refuse', 'x', '--justification', 'S')).toEqual(['SPEC_INVALID']);
    expect(offered('measurements', 'list', '--json', '--state', 'C')).toEqual(['COMPUTING', 'CANCELLED']);
    expect(offered('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(offered('measure', '--epsilon', '')).toEqual([]);
    // The value of an option counts neither as a command nor as an argument.
    expect(offered('measure', '--reference', 'demo', '')).toContain('reach');
  });

  it('offers the demo parties in dev.json of the development exchange', () => {
    expect(offered('measure', '--as', '')).toEqual([
      'measurementConsumers/acme',
      'dataProviders/streamly',
      'dataProviders/chirper',
    ]);
    expect(offered('measure', 'reach', '--provider', '')).toEqual([
      'dataProviders/streamly',
      'dataProviders/chirper',
    ]);
    expect(offered('measure', 'reach', '--provider', '=', 'dataProviders/s')).toEqual([
      'dataProviders/streamly',
    ]);
    expect(offered('token', 'measurement')).toEqual(['measurementConsumers/acme']);
    rmSync(file('dev.json'));
    expect(offered('measure', '--as', '')).toEqual([]);
  });

  it('offers file names for arguments and options that expect a file', () => {
    expect(offered('keys', 'inspect', 'me')).toEqual(['mex.bash']);
    expect(offered('measure', '--spec', './m')).toEqual(['./mex.bash']);
  });
});

describe('a completion script', async () => {
  const root: Command = await createMex(['completion']);

  it.each(['bash', 'zsh', 'fish'])('contains every command and option (%s)', async (shell) => {
    const script = await mex('completion', shell);
    for (const node of commandTree(root)) {
      expect(script).toContain(`'${node.path}'`);
      for (const { word } of [...node.commands, ...node.options]) expect(script).toContain(word);
    }
    expect(script).not.toContain('undefined');
  });

  it('covers commands at every level', () => {
    const paths = commandTree(root).map(({ path }) => path);
    for (const path of [
      '',
      'measure',
      'admin parties create',
      'measurements results',
      'verify file',
      'provider run',
    ]) {
      expect(paths).toContain(path);
    }
  });
});
