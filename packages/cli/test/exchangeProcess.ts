/** `mex serve --dev` as a process of its own, in a data directory of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
export const MEX = fileURLToPath(new URL('../src/mex.ts', import.meta.url));

export interface ExchangeProcess {
  child: ChildProcess;
  /** Standard output and error so far. */
  output: () => string;
  /** Resolves with the exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>;
}

/** The environment of these tests without the database of the others: here the embedded one is tested. */
export function ownEnv(env: Record<string, string>): NodeJS.ProcessEnv {
  const { DATABASE_URL: _others, ...rest } = process.env;
  return { ...rest, ...env };
}

export function spawnExchange(env: Record<string, string>): ExchangeProcess {
  const child = spawn(process.execPath, [MEX, 'serve', '--dev'], {
    cwd: ROOT,
    env: ownEnv({ PORT: '0', ...env }),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  return { child, output: () => output, ended };
}

/** Waits for the banner, or fails with what the process said instead. */
export async function untilListening(exchange: ExchangeProcess): Promise<string> {
  let over = false;
  void exchange.ended.then(() => {
    over = true;
  });
  for (;;) {
    const url = /is listening on (http:\S+)/.exec(exchange.output())?.[1];
    if (url !== undefined) return url;
    if (over) throw new Error(`the exchange ended: ${exchange.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
