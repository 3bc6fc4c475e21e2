/** Where the log goes: lines of JSON on the standard output. */
import { type DestinationStream, destination, type Logger, pino } from 'pino';

/**
 * Lines are written a few at a time: a system call for each took 5 % of a read, and a reader that falls behind would
 * hold up every request. What `kill -9` can take with it are the lines of the last two tenths of a second; what must
 * not be lost is in the database.
 */
const STANDARD_OUTPUT = {
  dest: 1,
  sync: false,
  minLength: 4_096,
  periodicFlush: 100,
  maxLength: 16 * 1024 * 1024,
};

export function createLog(level: string, to: DestinationStream = destination(STANDARD_OUTPUT)): Logger {
  return pino({ level, timestamp: () => `,"time":${said ?? Date.now()}` }, to);
}

/** Epoch milliseconds, while a line is written about something that was before. */
let said: number | undefined;

/** Lines that `write` writes have the time `at`. */
export function logAt(at: number, write: () => void): void {
  said = at;
  write();
  said = undefined;
}
