/**
 * Creates and reads page tokens. A message authentication code ensures that a token is valid only for the list that
 * returned the token. A token grants no access to that list.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { DEFAULT_PAGE_SIZE, ExchangeError, type Timestamp } from '@measurement-exchange/contract';
import type { Cursor } from '../database/page.ts';

/** A page ends at this size, even with fewer rows than requested. */
export const MAX_PAGE_BYTES = 8 * 1024 * 1024;
export const MAX_BATCH_BYTES = 64 * 1024 * 1024;

export function responseTooLarge(): ExchangeError {
  return new ExchangeError('RESPONSE_TOO_LARGE', 'The response would be above 64 MiB: request fewer names.');
}

export const START: Cursor = { time: '-infinity', id: '' };

export type ListScope = [operation: string, parent: string, ...filters: unknown[]];

const MAC_BYTES = 16;

interface ListPage {
  after: Cursor;
  limit: number;
  /** Returns the token of the next page, or undefined if there are no more rows. */
  next<T>(more: boolean, items: readonly T[], cursorOf: (last: T) => Cursor): string | undefined;
}

export function byCreation({ createTime, id }: { createTime: Timestamp; id: string }): Cursor {
  return { time: createTime, id };
}

export class PageTokens {
  private readonly key: KeyObject;

  constructor(key: Uint8Array) {
    this.key = createSecretKey(key);
  }

  page(
    scope: ListScope,
    { pageToken, pageSize }: { pageToken?: string | undefined; pageSize?: number | undefined },
  ): ListPage {
    return {
      after: this.read(scope, pageToken),
      limit: pageSize ?? DEFAULT_PAGE_SIZE,
      next: (more, items, cursorOf) => (more ? this.write(scope, cursorOf(items.at(-1)!)) : undefined),
    };
  }

  read(scope: ListScope, token: string | undefined): Cursor {
    if (token === undefined) return START;
    const bytes = Buffer.from(token, 'base64url');
    const mac = bytes.subarray(0, MAC_BYTES);
    const payload = bytes.subarray(MAC_BYTES);
    const genuine =
      bytes.toString('base64url') === token &&
      mac.length === MAC_BYTES &&
      timingSafeEqual(mac, this.mac(scope, payload));
    if (!genuine) {
      throw new ExchangeError('INVALID_PAGE_TOKEN', 'The page token does not belong to this list.', {
        violations: [{ field: 'pageToken', description: 'does not belong to this list with these filters' }],
      });
    }
    const [time, id] = JSON.parse(payload.toString()) as [string, string];
    return { time, id };
  }

  write(scope: ListScope, last: Cursor): string {
    const payload = Buffer.from(JSON.stringify([last.time, last.id]));
    return Buffer.concat([this.mac(scope, payload), payload]).toString('base64url');
  }

  private mac(scope: ListScope, payload: Uint8Array): Uint8Array {
    const text = JSON.stringify(scope);
    return createHmac('sha256', this.key)
      .update(`${text.length}:${text}`)
      .update(payload)
      .digest()
      .subarray(0, MAC_BYTES);
  }
}
