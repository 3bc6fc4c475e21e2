import { constants } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';

/**
 * A log above this size is replaced. Even a busy server takes months to write this much, because warnings and statement
 * errors are not logged.
 */
const largestBytes = 5_000_000;
const TAIL_BYTES = 16_384;

/** Opens the log for appending. A large log is first renamed to `.old`, which replaces an earlier `.old` file. */
export async function openLog(path: string) {
  const found = await stat(path).catch(() => undefined);
  if (found && found.size > largestBytes) await rename(path, `${path}.old`);
  const file = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
  const start = (await file.stat()).size;
  return {
    path,
    fd: file.fd,
    /** Returns the last ten lines that were written since the log was opened. */
    async tail(): Promise<string> {
      const { size } = await file.stat();
      const position = Math.max(start, size - TAIL_BYTES);
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(TAIL_BYTES), position });
      return buffer.toString('utf8', 0, bytesRead).trim().split('\n').slice(-10).join('\n');
    },
    close: () => file.close(),
  };
}
