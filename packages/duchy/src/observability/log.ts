import { type DestinationStream, type Logger, pino } from 'pino';

/** Lines of JSON on the standard output. Requests and stages are named in them, never what they hold. */
export function createLog(level: string, to?: DestinationStream): Logger {
  return to === undefined ? pino({ level }) : pino({ level }, to);
}
