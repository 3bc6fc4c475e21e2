/** Lists, page by page or item by item. */
import { UnexpectedResponse } from './errors.ts';

/**
 * A list of the exchange. Pages are requested while it is iterated, and a new iteration starts over:
 * `for await (const item of listing)`, or all of it with `await Array.fromAsync(listing)`.
 */
export interface Listing<Item, Page> extends AsyncIterable<Item> {
  /** The pages, as the exchange returns them. */
  pages(): AsyncIterableIterator<Page>;
  /** One page: the first, or that of the given `pageToken`. The last page has no `nextPageToken`. */
  page(): Promise<Page>;
}

/** An exchange fills its pages; a proxy or a future version may not. */
const MAX_EMPTY_PAGES = 100;

/** `fetchPage` requests one page; without a token, the one that the caller's arguments name. */
export function createListing<Item, Page extends { nextPageToken?: string }>(
  fetchPage: (pageToken?: string) => Promise<Page>,
): Listing<Item, Page> {
  async function* pages() {
    let pageToken: string | undefined;
    // One of the tokens so far, moved on at each power of two: a list that goes in circles meets it again.
    let passed: string | undefined;
    let empty = 0;
    for (let count = 1; ; count++) {
      const page = await fetchPage(pageToken);
      yield page;
      pageToken = page.nextPageToken;
      if (!pageToken) return;
      if (pageToken === passed) throw endless('a page of it comes again');
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
