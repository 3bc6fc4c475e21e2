/** Iterates over a list on the exchange, page by page or item by item. */
import { UnexpectedResponse } from './errors.ts';

/**
 * A list on the exchange. Pages are requested as the iteration reaches them, and each new iteration starts over. Use
 * `for await (const item of listing)`, or `await Array.fromAsync(listing)` to get all items.
 */
export interface Listing<Item, Page> extends AsyncIterable<Item> {
  pages(): AsyncIterableIterator<Page>;
  /**
   * Requests only one page: the first page, or the page that the call's `pageToken` selects. The last page has no
   * `nextPageToken`.
   */
  page(): Promise<Page>;
}

/** The maximum number of consecutive empty pages. Exchanges return no empty pages today, but a future version might. */
const MAX_EMPTY_PAGES = 100;

/**
 * Creates a listing. `fetchPage` requests the page with the given token. Without a token, it requests the page that the
 * caller's arguments select.
 */
export function createListing<Item, Page extends { nextPageToken?: string }>(
  fetchPage: (pageToken?: string) => Promise<Page>,
): Listing<Item, Page> {
  async function* pages() {
    let pageToken: string | undefined;
    // Detect endless lists with Brent's algorithm: save the latest token whenever the page count is a power of two. If
    // the pages repeat, the saved token comes up again.
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

/**
 * Returns a page's items: the first array in the page. A page of a timeline has a second array, `progress`, which
 * follows the items.
 */
function itemsOf(page: object): unknown[] {
  return (Object.values(page) as unknown[]).find(Array.isArray) ?? [];
}

function endless(why: string): UnexpectedResponse {
  const message = `The list does not end: ${why}.`;
  return new UnexpectedResponse(message, { status: 200, transient: false });
}
