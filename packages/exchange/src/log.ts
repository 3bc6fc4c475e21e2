/** Where the log goes: lines of JSON on the standard output. */
import { destination, type Logger, pino } from 'pino';

/**
 * Lines are written a few at a time: a system call for each took 5 % of a read, and a reader that falls behind would
 * hold up every request. What `kill -9` can take with it are the lines of the last tenth of a second; what must not be
 * lost is in the database.
 */
export function createLog(level: string): Logger {
  const output = { dest: 1, sync: false, minLength: 4_096, periodicFlush: 100, maxLength: 16 * 1024 * 1024 };
  return pino({ level }, destination(output));
}
