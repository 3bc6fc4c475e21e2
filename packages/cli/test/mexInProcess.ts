/** `mex …` in this process: a start of Node costs a second. */
import { vi } from 'vitest';
import { createMex } from '../src/program.ts';

export interface Ran {
  out: string;
  err: string;
  /** What the command ended with, if not well. */
  error?: Error & { exitCode?: number };
}

/** `mex …` in this process, with both streams, whatever its end. */
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

/** The values of JSON lines. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
export const lines = (text: string): any[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** What it printed; rejects with the error that the command ends with. */
export async function mex(...args: string[]): Promise<string> {
  const { out, error } = await run(...args);
  if (error) throw error;
  return out;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into output freely
export async function mexJson(...args: string[]): Promise<any> {
  return JSON.parse(await mex(...args, '--json'));
}
