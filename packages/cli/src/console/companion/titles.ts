/** Searches the titles of a consumer's measurements, which only the consumer can decrypt. */
import type { FoundTitles } from '@measurement-exchange/console/companion';
import type { Measurement } from '@measurement-exchange/contract';
import type { ExchangeClient } from '@measurement-exchange/sdk';
import type { Questions } from './questions.ts';

const MAX_TITLES = 2_000;
/** The time after which a search stops reading older titles. The next search continues where this search stopped. */
const SEARCH_MS = 1_500;
const PAGE = { orderBy: 'createTime desc', pageSize: 50 } as const;

interface Titled {
  name: string;
  title: string;
}

type Pages = AsyncIterator<{ measurements: Measurement[] }>;

/**
 * Returns a function that searches titles. The function caches decrypted titles, and returns the newest matches first.
 * A search reads older titles until it has enough matches or has read all titles. It ends early after SEARCH_MS, or if
 * MAX_TITLES titles are cached.
 */
export function createTitleSearch(client: ExchangeClient, parent: string, questions: Questions) {
  let titles: Titled[] = [];
  let older: Pages | undefined;
  let isComplete = false;
  let searching: Promise<unknown> = Promise.resolve();

  const titled = async (measurements: Measurement[]): Promise<Titled[]> =>
    Promise.all(
      measurements.map(async (measurement) => {
        const { question } = await questions.open(measurement);
        return { name: measurement.name!, title: question?.title ?? '' };
      }),
    );

  const pages = (): Pages =>
    client
      .listMeasurements({ parent, ...PAGE })
      .pages()
      [Symbol.asyncIterator]();

  const addNewer = async () => {
    const known = new Set(titles.map(({ name }) => name));
    const added: Titled[] = [];
    const newest = pages();
    for (let reached = false; !reached && added.length < MAX_TITLES; ) {
      const { value, done } = await newest.next();
      if (done) break;
      const unknown = value.measurements.filter(({ name }) => !known.has(name!));
      reached = unknown.length < value.measurements.length;
      added.push(...(await titled(unknown)));
    }
    titles = [...added, ...titles];
    if (titles.length > MAX_TITLES) isComplete = false;
    titles = titles.slice(0, MAX_TITLES);
  };

  const addOlder = async () => {
    older ??= pages();
    const { value, done } = await older.next();
    if (done) isComplete = true;
    else titles.push(...(await titled(value.measurements)));
  };

  const search = async (text: string, limit: number): Promise<FoundTitles> => {
    const end = performance.now() + SEARCH_MS;
    const wanted = comparable(text);
    const matches = () => titles.filter(({ title }) => comparable(title).includes(wanted)).slice(0, limit);
    if (older !== undefined) await addNewer();
    while (!isComplete && titles.length < MAX_TITLES && performance.now() < end && matches().length < limit) {
      await addOlder();
    }
    return { matches: matches(), searched: titles.length, isComplete };
  };

  /** Runs one search at a time, because all searches share the cache. After an error, the next search starts over. */
  return (text: string, limit: number): Promise<FoundTitles> => {
    const result = searching.then(() => search(text, limit));
    searching = result.catch(() => {
      titles = [];
      older = undefined;
      isComplete = false;
    });
    return result;
  };
}

const comparable = (text: string) => text.normalize('NFKC').toLowerCase();
