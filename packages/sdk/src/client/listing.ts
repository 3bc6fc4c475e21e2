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

/** `fetchPage` requests one page; without a token, the one that the caller's arguments name. */
export function createListing<Item, Page extends { nextPageToken?: string }>(
  fetchPage: (pageToken?: string) => Promise<Page>,
): Listing<Item, Page> {
  async function* pages() {
    let pageToken: string | undefined;
    do {
      const page = await fetchPage(pageToken);
      yield page;
      if (page.nextPageToken && page.nextPageToken === pageToken) {
        throw new UnexpectedResponse('The list does not go on: its next page is the same page again.', {
          status: 200,
          transient: false,
        });
      }
      pageToken = page.nextPageToken;
    } while (pageToken);
  }
  async function* items() {
    // A page has one array, under the name of its collection.
    for await (const page of pages()) yield* Object.values<unknown>(page).find(Array.isArray) as Item[];
  }
  return { pages, page: () => fetchPage(), [Symbol.asyncIterator]: items };
}
