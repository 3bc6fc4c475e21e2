import { type DestinationStream, type Logger, pino } from 'pino';

/** Writes lines of JSON to the standard output. They name requests and stages, and never hold their content. */
export function createLog(level: string, to?: DestinationStream): Logger {
  return to === undefined ? pino({ level }) : pino({ level }, to);
}
