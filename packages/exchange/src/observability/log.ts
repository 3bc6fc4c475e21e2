/** Writes the log as lines of JSON to the standard output. */
import { type DestinationStream, destination, type Logger, pino } from 'pino';

/**
 * Lines are written in batches: a system call for each line took 5 % of a read request, and a slow reader of the log would
 * delay every request. `kill -9` can lose the lines of the last 0.2 s; facts that must not be lost are in the database.
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

/** The time of the event in epoch milliseconds, while a deferred line about the event is written. */
let lineTime: number | undefined;

/** Lines that `write` writes have the time `at`. */
export function logAt(at: number, write: () => void): void {
  lineTime = at;
  write();
  lineTime = undefined;
}
