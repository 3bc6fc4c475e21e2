import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * Creates a log that writes JSON lines to standard output. The lines identify requests and stages, but never include
 * their content.
 */
export function createLog(level: string, to?: DestinationStream): Logger {
  return to === undefined ? pino({ level }) : pino({ level }, to);
}
