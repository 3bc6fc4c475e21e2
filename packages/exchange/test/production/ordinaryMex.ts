/** mex in a process of its own that is not root, as production demands. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const MEX = fileURLToPath(new URL('../../../cli/src/mex.ts', import.meta.url));
export const NOBODY = 65534;

/** How to start a process that is not root: put before the command, or given to spawn. */
interface Account {
  prefix: string[];
  identity: { uid?: number; gid?: number };
}

function ordinaryAccount(): Account | undefined {
  if (process.geteuid!() !== 0) return { prefix: [], identity: {} };
  // In a user namespace we are somebody else who may read our files: the clone may be in root's own folder.
  const namespace = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`];
  if (spawnSync(namespace[0]!, [...namespace.slice(1), 'true']).status === 0) {
    return { prefix: namespace, identity: {} };
  }
  const identity = { uid: NOBODY, gid: NOBODY };
  const canRead = spawnSync(process.execPath, [MEX, '--version'], { ...identity, cwd: '/' }).status === 0;
  return canRead ? { prefix: [], identity } : undefined;
}

export const account = ordinaryAccount();

export interface Running {
  child: ChildProcess;
  said: { stdout: string; stderr: string };
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

/** The environment is only what is given: that of the tests is not production's. */
export function runMex(command: string, cwd: string, env: Record<string, string>): Running {
  const [program, ...args] = [...account!.prefix, process.execPath, MEX, command];
  const child = spawn(program!, args, {
    ...account!.identity,
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (said.stdout += chunk));
  child.stderr.on('data', (chunk) => (said.stderr += chunk));
  // A run that is broken off ends its children, too.
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  child.once('exit', () => process.off('exit', endWithUs));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }));
  return { child, said, ended };
}

/** Its address, once it says that it listens. */
export async function listening({ child, said }: Running): Promise<string> {
  for (
    const deadline = Date.now() + 30_000;
    Date.now() < deadline && child.exitCode === null;
    await sleep(50)
  ) {
    const url = /"url":"([^"]+)"/.exec(said.stdout)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`The exchange did not start:\n${said.stdout}${said.stderr}`);
}
