/** requestId: one resource per (parent, method, ID), however often and concurrently it is requested. */
import { hash } from 'node:crypto';
import { ExchangeError, equalBytes } from '@measurement-exchange/contract';
import { uniqueViolation } from '../database/db.ts';

export function contentHash(content: string | Uint8Array): Uint8Array {
  return hash('sha256', content, 'buffer');
}

/** The loser of a race on the same ID waits on the unique index, then finds what the winner made. */
export async function idempotently<T>(index: string, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (uniqueViolation(error) !== index) throw error;
    return attempt();
  }
}

export function requireSameContent(
  stored: Uint8Array,
  given: Uint8Array,
  requestId: string,
  existing: string,
): void {
  if (equalBytes(stored, given)) return;
  throw new ExchangeError(
    'REQUEST_ID_REUSED',
    'This requestId already created another content: resend the same request, or use a new requestId.',
    { metadata: { requestId, existing } },
  );
}
