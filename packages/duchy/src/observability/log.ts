import { type DestinationStream, type Logger, pino } from 'pino';

/** Writes JSON lines to standard output. They identify requests and stages, but never include their content. */
export function createLog(level: string, to?: DestinationStream): Logger {
  return to === undefined ? pino({ level }) : pino({ level }, to);
}
