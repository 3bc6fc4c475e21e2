/**
 * Converts each server error to an error with a new message, which names a remedy if one is known. The server's own
 * message may quote a filter or a VID, so the new message repeats only the error's code and name, or the name of a
 * setting.
 */
import { ClickHouseError } from '@clickhouse/client';
import { EventsUnavailable, QueryFailed } from '../errors.ts';

/** Error codes that the query itself causes: it needs too many resources, or the server cannot run it. */
const BY_QUERY = new Set([
  36, 42, 43, 44, 46, 48, 53, 62, 125, 153, 158, 159, 160, 161, 162, 167, 168, 184, 191, 241, 306, 307, 386,
  396, 407, 423, 572,
]);

const REMEDIES: Record<number, string> = {
  47: 'The table has no such column any more: correct events.columns',
  60: 'There is no such table: correct events.source.table',
  70: 'A value does not fit, such as a VID above 2^63 - 1: correct the table',
  81: 'There is no such database: correct events.source.table',
  158: 'It reads too many rows: raise events.source.rowLimit, or offer fewer days',
  159: 'It takes too long: raise events.timeoutSeconds, or filter less',
  192: 'There is no such user: correct events.source.user',
  194: 'The password is missing: set events.source.passwordFile',
  241: 'It takes too much memory: raise events.source.memoryLimit or events.source.passes',
  497: 'The account lacks a privilege: grant it SELECT on the table',
  516: 'The user or the password is wrong: correct events.source.user and its password',
};

/** Matches an exception that a server wrote into its response. */
const EXCEPTION = /Code: (\d+)\. DB::Exception: (.*?)\(([A-Z][A-Z0-9_]+)\)/s;

/** Returns the error for a response that ends in an exception or is incomplete. */
export function brokenResponse(tail: string): EventsUnavailable {
  const exception = EXCEPTION.exec(tail);
  if (exception) return serverProblem(Number(exception[1]), exception[3]!, exception[2]!);
  const code = /Code: (\d+)\. DB::Exception/.exec(tail);
  if (code) return serverProblem(Number(code[1]), 'no name', '');
  return new EventsUnavailable(
    'The response of the ClickHouse server is not complete: the question is read again.',
  );
}

export function translate(error: unknown): unknown {
  if (error instanceof ClickHouseError)
    return serverProblem(Number(error.code), error.type ?? 'no name', error.message);
  if (error instanceof EventsUnavailable || !(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  const reason =
    code ?? (error.message === 'Timeout error.' ? 'it does not respond' : 'it does not answer as ClickHouse');
  return new EventsUnavailable(
    `The ClickHouse server cannot be read (${reason}): see that it runs, and correct events.source.url.`,
  );
}

function serverProblem(code: number, name: string, message: string): EventsUnavailable {
  if (code === 164 || code === 452) {
    const setting = /[Ss]etting '?([a-z_0-9]+)/.exec(message)?.[1] ?? 'a setting';
    return new EventsUnavailable(
      `The account may not set ${setting} as the agent does: allow it in the account's settings profile.`,
    );
  }
  // Show the name only if it looks like the name of an error, because a server could send any text.
  const shown = /^[A-Z][A-Z_]{1,80}\d{0,2}$/.test(name) ? name : 'no name';
  const what = `The ClickHouse server gave up with ${shown} (${code}).`;
  const text = REMEDIES[code] === undefined ? what : `${what} ${REMEDIES[code]}.`;
  return BY_QUERY.has(code) ? new QueryFailed(text) : new EventsUnavailable(text);
}
