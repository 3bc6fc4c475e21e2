/** Runs `mex …` in this process, because starting Node takes a second. */
import { vi } from 'vitest';
import { createMex } from '../src/program.ts';

export interface Ran {
  out: string;
  err: string;
  /** The error that the command ended with, if it failed. */
  error?: Error & { exitCode?: number };
}

/** Runs `mex …` in this process and captures both output streams, also when the command fails. */
export async function run(...args: string[]): Promise<Ran> {
  const printed = { out: '', err: '' };
  const capture = (member: 'out' | 'err') => (chunk: string | Uint8Array) => {
    printed[member] += chunk;
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(capture('out')),
    vi.spyOn(process.stderr, 'write').mockImplementation(capture('err')),
  ];
  try {
    const program = await createMex(args);
    await program.parseAsync(args, { from: 'user' });
    return printed;
  } catch (error) {
    return { ...printed, error: error as Error };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Parses JSON lines. */
// biome-ignore lint/suspicious/noExplicitAny: tests access arbitrary fields of replies
export const lines = (text: string): any[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Returns the command's standard output, or rejects with the command's error. */
export async function mex(...args: string[]): Promise<string> {
  const { out, error } = await run(...args);
  if (error) throw error;
  return out;
}

// biome-ignore lint/suspicious/noExplicitAny: tests access arbitrary fields of the output
export async function mexJson(...args: string[]): Promise<any> {
  return JSON.parse(await mex(...args, '--json'));
}
