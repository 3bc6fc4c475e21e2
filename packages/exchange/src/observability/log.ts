/** Where the log goes: lines of JSON on the standard output. */
import { type DestinationStream, destination, type Logger, pino } from 'pino';

/**
 * Lines are written in batches: a system call for each took 5 % of a read, and a slow reader of the log would hold up
 * every request. `kill -9` can lose the lines of the last two tenths of a second; what must not be lost is in the
 * database.
 */
const STANDARD_OUTPUT = {
  dest: 1,
  sync: false,
  minLength: 4_096,
  periodicFlush: 100,
  maxLength: 16 * 1024 * 1024,
};

export function createLog(level: string, to: DestinationStream = destination(STANDARD_OUTPUT)): Logger {
  return pino({ level, timestamp: () => `,"time":${lineTime ?? Date.now()}` }, to);
}

/** Epoch milliseconds of the event, while a deferred line about it is written. */
let lineTime: number | undefined;

/** Lines that `write` writes carry the time `at`. */
export function logAt(at: number, write: () => void): void {
  lineTime = at;
  write();
  lineTime = undefined;
}
