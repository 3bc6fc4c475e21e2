/** Lists, page by page or item by item. */
import { UnexpectedAnswer } from './errors.ts';

/**
 * A list of the exchange. Nothing is asked before it is iterated, and a new iteration asks again:
 * `for await (const item of listing)`, or all of it with `await Array.fromAsync(listing)`.
 */
export interface Listing<Item, Page> extends AsyncIterable<Item> {
  /** Every page from here on, as the exchange answers them. */
  pages(): AsyncIterableIterator<Page>;
  /** One page: the first, or that of the `pageToken` given. `nextPageToken` is absent on the last one. */
  page(): Promise<Page>;
}

/** `fetchPage` asks for one page; without a token, for the one that the caller's arguments say. */
export function createListing<Item, Page extends { nextPageToken?: string }>(
  fetchPage: (pageToken?: string) => Promise<Page>,
): Listing<Item, Page> {
  async function* pages() {
    let pageToken: string | undefined;
    do {
      const page = await fetchPage(pageToken);
      yield page;
      if (page.nextPageToken && page.nextPageToken === pageToken) {
        throw new UnexpectedAnswer('The list does not go on: its next page is the same page again.', {
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
