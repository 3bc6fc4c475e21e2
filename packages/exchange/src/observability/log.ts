/** Writes the log to standard output as JSON lines. */
import { type DestinationStream, destination, type Logger, pino } from 'pino';

/**
 * Lines are written in batches, because a system call per line took 5% of a read request's time. Without batches, a
 * slow reader of the log would also delay every request. deferred.ts and this buffer each hold a line for up to 0.1 s,
 * so `kill -9` can lose the last 0.2 s of lines. Facts that must not be lost are in the database.
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

/** The time to print in the line that `logAt` is writing, in epoch milliseconds. Other lines get the current time. */
let lineTime: number | undefined;

export function logAt(at: number, write: () => void): void {
  lineTime = at;
  write();
  lineTime = undefined;
}
