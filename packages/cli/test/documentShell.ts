/**
 * Opens a shell that runs the shell lines in documents. Commands such as `npm run -s mex -- …` run in this process,
 * because starting Node takes a second.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { ROOT } from '@measurement-exchange/testkit/process';
import { vi } from 'vitest';
import { run } from './mexInProcess.ts';

const execute = promisify(execFile);

export interface DocumentShell extends Disposable {
  /**
   * Runs the shell blocks of a document in one shell, or only the blocks from the text `from` up to the text `to`.
   * Returns the output of each block.
   */
  typed(document: string, from?: string, to?: string): Promise<string[]>;
  /** Runs these blocks of lines in one shell. Returns the output of each block. */
  run(...blocks: string[]): Promise<string[]>;
  close(): void;
}

/**
 * Opens a shell. `folder` holds the files of the shell itself. The commands run with the environment variables
 * `variables`.
 */
export async function openDocumentShell(
  folder: string,
  variables: Record<string, string>,
): Promise<DocumentShell> {
  /** The standard error of the document's commands. */
  let complaints: string[] = [];
  const socket = join(folder, 'mex.sock');
  const commands = createServer(async (request, response) => {
    const entries = (await text(request)).split('\0').slice(0, -1);
    const end = entries.indexOf('');
    const words = entries.slice(end + 1);
    const { out, err, error } = await withVariables(entries.slice(0, end), () => run(...words));
    complaints.push(`mex ${words.join(' ')}: ${err}${error ?? ''}`);
    response.statusCode = error === undefined && process.exitCode === undefined ? 200 : 500;
    process.exitCode = undefined;
    response.end(out);
  }).listen(socket);
  await once(commands, 'listening');
  await addNpm(join(folder, 'bin'), socket);
  const env = {
    ...process.env,
    PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`,
    TMPDIR: folder,
    ...variables,
  };
  const runBlocks: DocumentShell['run'] = async (...blocks) => {
    const script = ['set -eo pipefail', ...blocks].join('\necho "----"\n');
    complaints = [];
    const { stdout } = await execute('bash', ['-c', script], { cwd: ROOT, env }).catch((error) => {
      throw new Error(`${error.message}\n${complaints.join('\n')}`);
    });
    return stdout.split('----\n').slice(1);
  };
  return {
    run: runBlocks,
    async typed(document, from = '', to) {
      const all = await readFile(join(ROOT, document), 'utf8');
      const placeOf = (text: string) => {
        if (!all.includes(text)) throw new Error(`${document} does not contain "${text}".`);
        return all.indexOf(text);
      };
      const part = all.slice(placeOf(from), to === undefined ? undefined : placeOf(to));
      return runBlocks(...[...part.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!));
    },
    close: () => void commands.close(),
    [Symbol.dispose]: () => void commands.close(),
  };
}

/** Runs `work` with the environment variables of the shell, then restores those of the test. */
async function withVariables<T>(entries: string[], work: () => Promise<T>): Promise<T> {
  const before = { ...process.env };
  for (const variable of entries) {
    const [name] = variable.split('=', 1) as [string];
    vi.stubEnv(name, variable.slice(name.length + 1));
  }
  try {
    return await work();
  } finally {
    for (const name of Object.keys(process.env)) vi.stubEnv(name, before[name]);
  }
}

/** Writes an `npm` program that sends the command and the shell's environment variables to the socket. */
async function addNpm(bin: string, socket: string): Promise<void> {
  await mkdir(bin);
  const npm = join(bin, 'npm');
  await writeFile(
    npm,
    `#!/bin/sh
[ "$1 $2 $3 $4" = 'run -s mex --' ] || { echo "npm $*: what is this?" >&2; exit 1; }
shift 4
{ env -0; printf '\\0'; printf '%s\\0' "$@"; } |
  curl -s --fail-with-body --unix-socket '${socket}' --data-binary @- http://mex
`,
  );
  await chmod(npm, 0o755);
}
