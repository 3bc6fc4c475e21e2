import { type DestinationStream, type Logger, pino } from 'pino';

/** Writes lines of JSON to the standard output. They refer to requests and stages, but never include their content. */
export function createLog(level: string, to?: DestinationStream): Logger {
  return to === undefined ? pino({ level }) : pino({ level }, to);
}
