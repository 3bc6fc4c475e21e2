/** `mex …` in this process: a start of Node costs a second. */
import { vi } from 'vitest';
import { createMex } from '../src/program.ts';

/** What it printed; rejects with the error that the command ends with. */
export async function mex(...args: string[]): Promise<string> {
  let printed = '';
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    printed += chunk;
    return true;
  });
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    await createMex().parseAsync(args, { from: 'user' });
    return printed;
  } finally {
    stdout.mockRestore();
    stderr.mockRestore();
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
export async function mexJson(...args: string[]): Promise<any> {
  return JSON.parse(await mex(...args, '--json'));
}
