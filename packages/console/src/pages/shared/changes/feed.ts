/** Reads the log of a party's changes. The exchange returns the oldest first, and the page shows the newest first. */
import type { Change } from '@measurement-exchange/contract';
import { type ExchangeClient, ExchangeError } from '@measurement-exchange/sdk/client';

/**
 * The number of changes to read in one call. When the user opens the page, one call reads this many of the newest
 * changes.
 */
export const PAGE_SIZE = 1000;
/** The maximum number of changes to keep. If there are more, the oldest ones are dropped. */
export const MAX_KEPT = 5000;

export interface Feed {
  changes: readonly Change[];
  /** The page token for changes after the newest one. */
  token: string;
  /** True if the log may have changes that are older than `changes`. */
  isCut: boolean;
}

/**
 * Adds all newer changes to `earlier`, and returns the result. Without `earlier`, or if its token has expired, returns
 * the newest changes.
 */
export async function readFeed(
  client: ExchangeClient,
  parent: string,
  earlier: Feed | undefined,
  signal: AbortSignal,
): Promise<Feed> {
  try {
    return await readOn(client, parent, earlier, signal);
  } catch (error) {
    const isExpired = error instanceof ExchangeError && error.reason === 'CHANGE_TOKEN_EXPIRED';
    if (!isExpired || earlier === undefined) throw error;
    return readOn(client, parent, undefined, signal);
  }
}

async function readOn(
  client: ExchangeClient,
  parent: string,
  earlier: Feed | undefined,
  signal: AbortSignal,
): Promise<Feed> {
  let { changes, token, isCut }: Partial<Feed> = earlier ?? {};
  for (;;) {
    const from = token === undefined ? { from: 'NEWEST' as const } : { pageToken: token };
    const page = await client.listChanges({ parent, pageSize: PAGE_SIZE, signal, ...from });
    isCut ??= page.changes.length === PAGE_SIZE;
    token = page.nextPageToken;
    const all = [...page.changes.toReversed(), ...(changes ?? [])];
    changes = all.slice(0, MAX_KEPT);
    isCut ||= all.length > MAX_KEPT;
    if (page.changes.length < PAGE_SIZE) return { changes, token, isCut };
  }
}
