/** Reads the log of a party's changes. The exchange lists it oldest first, and the page shows it newest first. */
import type { Change } from '@measurement-exchange/contract';
import { type ExchangeClient, ExchangeError } from '@measurement-exchange/sdk/client';

const PAGE_SIZE = 1000;
/** A longer log is not read to its end, which would take seconds. */
const MAX_PAGES = 50;
/** The number of changes that the page keeps. */
export const MAX_KEPT = 5000;

export interface Feed {
  /** Newest first. */
  changes: readonly Change[];
  /** Continues after the newest change. */
  token: string;
  /** True if the log was too long to read, so that only changes since the page was opened are here. */
  isCut: boolean;
}

/** Reads the changes since `earlier`, or the whole log. */
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
  let changes = earlier?.changes ?? [];
  let token = earlier?.token;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const from = token === undefined ? { from: 'OLDEST' as const } : { pageToken: token };
    const page = await client.listChanges({ parent, pageSize: PAGE_SIZE, signal, ...from });
    token = page.nextPageToken;
    changes = [...page.changes.toReversed(), ...changes].slice(0, MAX_KEPT);
    if (page.changes.length === 0) return { changes, token, isCut: earlier?.isCut ?? false };
  }
  const { nextPageToken } = await client.listChanges({ parent, from: 'NOW', signal });
  return { changes: [], token: nextPageToken, isCut: true };
}
