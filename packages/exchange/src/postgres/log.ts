import { constants } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';

// Warnings and statement errors are not logged, so a file of this size is months of a busy server.
const largestBytes = 5_000_000;

export type ServerLog = {
  path: string;
  fd: number;
  /** The last lines since it was opened. */
  tail(): Promise<string>;
  close(): Promise<void>;
};

/** Opens the server's log for appending; a large one is renamed first, replacing the previous one. */
export async function openLog(path: string): Promise<ServerLog> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > largestBytes) await rename(path, `${path}.old`);
  const file = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
  const start = (await file.stat()).size;
  return {
    path,
    fd: file.fd,
    async tail() {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(16_384), position: start });
      return buffer.toString('utf8', 0, bytesRead).trim().split('\n').slice(-10).join('\n');
    },
    close: () => file.close(),
  };
}
