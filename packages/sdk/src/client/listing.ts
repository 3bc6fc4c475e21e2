/** Iterates over the lists of an exchange, page by page or item by item. */
import { UnexpectedResponse } from './errors.ts';

/**
 * A list of the exchange. Each page is requested when the iteration reaches it, and a new iteration starts over:
 * `for await (const item of listing)`, or `await Array.fromAsync(listing)` for all items.
 */
export interface Listing<Item, Page> extends AsyncIterable<Item> {
  pages(): AsyncIterableIterator<Page>;
  /** Requests the first page, or the page of the given `pageToken`. The last page has no `nextPageToken`. */
  page(): Promise<Page>;
}

/** An exchange fills its pages, but a future version may return some empty ones. */
const MAX_EMPTY_PAGES = 100;

/** `fetchPage` requests one page; without a token, the page that the caller's arguments select. */
export function createListing<Item, Page extends { nextPageToken?: string }>(
  fetchPage: (pageToken?: string) => Promise<Page>,
): Listing<Item, Page> {
  async function* pages() {
    let pageToken: string | undefined;
    // Brent's cycle detection: a token that is replaced at each power of two comes again if the list is endless.
    let passed: string | undefined;
    let empty = 0;
    for (let count = 1; ; count++) {
      const page = await fetchPage(pageToken);
      yield page;
      pageToken = page.nextPageToken;
      if (!pageToken) return;
      if (pageToken === passed) throw endless('a page comes again');
      if (Number.isInteger(Math.log2(count))) passed = pageToken;
      empty = itemsOf(page).length === 0 ? empty + 1 : 0;
      if (empty > MAX_EMPTY_PAGES) throw endless(`${empty} pages in a row are empty`);
    }
  }
  async function* items() {
    for await (const page of pages()) yield* itemsOf(page) as Item[];
  }
  return { pages, page: () => fetchPage(), [Symbol.asyncIterator]: items };
}

/** A page has one array, under the name of its collection. */
function itemsOf(page: object): unknown[] {
  return (Object.values(page) as unknown[]).find(Array.isArray) ?? [];
}

function endless(why: string): UnexpectedResponse {
  const message = `The list does not end: ${why}.`;
  return new UnexpectedResponse(message, { status: 200, transient: false });
}
