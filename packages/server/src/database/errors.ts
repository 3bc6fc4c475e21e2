/** Translates database errors into API errors. */
import { ExchangeError } from '@measurement-exchange/contract';
import pg from 'pg';

export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

export function uniqueViolation(error: unknown): string | undefined {
  const cause = error instanceof ExchangeError ? error.cause : error;
  return cause instanceof pg.DatabaseError && cause.code === '23505' ? cause.constraint : undefined;
}

/**
 * Returns true for a serialization failure or a deadlock. PostgreSQL guarantees that the failed transaction changed
 * nothing.
 */
export function isRetryable(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
}

/**
 * The SQL states of lock timeouts, lost connections, shutdowns, exhausted resources, read-only standbys, and conflicts.
 */
const BUSY = /^(55P03|08|57P|53|25006|40)/;
const LOST = /ECONN|ENOENT|EPIPE|ETIMEDOUT|terminated|not queryable|Client was closed|pool/i;

/**
 * Translates a database error into an API error. Returns an unexpected error unchanged, because it is a bug in this
 * program.
 */
export function translate(error: unknown): unknown {
  if (error instanceof ExchangeError) return error;
  const state = sqlState(error);
  if (state === '57014') return tooSlow(error);
  if (state !== undefined) return BUSY.test(state) ? unavailable(error) : error;
  const text = error instanceof Error ? `${(error as { code?: string }).code ?? ''} ${error.message}` : '';
  if (/timeout exceeded when trying to connect/.test(text)) return unavailable(error);
  if (/Query read timeout/.test(text)) return tooSlow(error);
  return LOST.test(text) ? unavailable(error) : error;
}

export function outcomeUnknown(): ExchangeError {
  return new ExchangeError('DEADLINE_EXCEEDED', 'The database took too long; the outcome is not known.');
}

function tooSlow(cause: unknown): ExchangeError {
  return new ExchangeError('DEADLINE_EXCEEDED', 'The database took too long.', { cause });
}

function unavailable(cause: unknown): ExchangeError {
  return new ExchangeError('UNAVAILABLE', 'The database is out of reach or busy: retry.', {
    cause,
    retryAfterSeconds: 1,
  });
}
