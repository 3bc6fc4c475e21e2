/**
 * Converts the driver's errors to EventsUnavailable, or to QueryFailed if the query may have caused the error. The text
 * of an error may quote rows, filters, or credentials, so only the error's code is passed on.
 */
import { EventsUnavailable, QueryFailed } from '../errors.ts';

/** Messages for the operator, by the code of the server's error. Each message names a remedy. */
const REMEDIES: Readonly<Record<string, string>> = {
  '28000': 'PostgreSQL does not let this account in: allow it in pg_hba.conf, or correct events.source.user.',
  '28P01': 'PostgreSQL rejects the password of the account: correct it.',
  '3D000': 'PostgreSQL has no such database: correct events.source.url.',
  '42501':
    'The account may not read all rows of the table: grant it SELECT, and exempt it from row security.',
  '42P01': 'The table is not there: create it, or correct events.source.table.',
  '42703': 'A column of the table is no longer there: restore it, or correct events.columns.',
  '42804': 'A column of the table has another type than before: restart the agent.',
  '42883': 'A column of the table has another type than before: restart the agent.',
  '53300': 'PostgreSQL has no connection left: raise max_connections, or the limit of the account.',
  '55P03': 'The table is locked: wait until its change is done.',
  '57P03': 'PostgreSQL is starting, stopping, or recovering: wait, or look at its log.',
};

/**
 * Codes of errors that a query can cause, for example by taking too much memory or disk space, or by its complexity.
 */
const BY_QUERY = /^(?:0A|42|54|XX000$|53200$|53400$)/;
/** Codes of errors that a row can cause, because one of its values cannot be converted to the expected type. */
const BY_ROW = /^22/;

/** Reasons for failed connections, by Node's error code. Some of them name a remedy. */
const CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address: start it, or correct events.source.url',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ENOTFOUND: 'its host name is not known: correct events.source.url',
  EAI_AGAIN: 'its host name cannot be looked up now',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host: correct events.source.url',
  ENOENT: 'its socket does not exist: start it, or correct events.source.url',
};

export function translate(error: unknown): EventsUnavailable {
  if (error instanceof EventsUnavailable) return error;
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  if (typeof code === 'string' && severity !== undefined) return ofServer(code);
  const reason = codesOf(error).map(reasonOf);
  return new EventsUnavailable(`PostgreSQL cannot be reached: ${reason[0] ?? ofDriver(error)}.`);
}

function ofServer(code: string): EventsUnavailable {
  const remedy = REMEDIES[code];
  if (remedy !== undefined) return new EventsUnavailable(remedy);
  if (BY_ROW.test(code)) {
    return new EventsUnavailable(
      `A row has a value that cannot be read, such as a VID of more than 64 bits (${code}): correct the row.`,
    );
  }
  if (BY_QUERY.test(code)) return new QueryFailed(`The query failed: PostgreSQL reported the error ${code}.`);
  return new EventsUnavailable(`The events cannot be read now: PostgreSQL reported the error ${code}.`);
}

function reasonOf(code: string): string {
  if (/SELF_SIGNED|UNABLE_TO/.test(code)) return 'its certificate is not trusted: set events.source.caFile';
  return CONNECTION[code] ?? `the connection failed (${code})`;
}

/**
 * Returns the codes of a network or TLS error. If a host has several addresses and none can be reached, Node throws an
 * AggregateError with one error for each address.
 */
function codesOf(error: unknown): string[] {
  const all = [error, ...(error instanceof AggregateError ? error.errors : [])] as { code?: unknown }[];
  return all.flatMap(({ code }) => (typeof code === 'string' ? [code] : []));
}

/** Describes an error of the driver itself. Such errors have no code. */
function ofDriver(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  if (/does not support SSL/.test(message)) return 'it does not speak TLS: set ssl = on in its configuration';
  if (/password/i.test(message)) return 'it asks for a password: set events.source.passwordFile';
  return 'the connection was cut, or was not made in time';
}
