/**
 * Decrypts the questions of measurements and the metadata of event groups. Reads up to 10 measurements or event groups
 * at the same time.
 */
import type { OpenedMetadata, OpenedQuestion } from '@measurement-exchange/console/companion';
import { ExchangeError, type Measurement } from '@measurement-exchange/contract';
import {
  type Consumer,
  type ExchangeClient,
  MetadataUnreadable,
  type Question,
} from '@measurement-exchange/sdk';
import { LRUCache } from 'lru-cache';
import { withQuestion } from '../../party/questions.ts';

/** The maximum size of all cached questions, in characters of JSON. */
const CACHE_SIZE = 16 * 1024 * 1024;
const AT_ONCE = 10;

export interface Questions {
  open(measurement: Measurement): Promise<OpenedQuestion>;
  /**
   * Returns false if the cache contains a different question for this measurement. Without this check, a hostile
   * exchange could show the consumer one question, and then the result of another.
   */
  isSame(measurement: Measurement): Promise<boolean>;
  read(names: string[]): Promise<Record<string, OpenedQuestion>>;
}

/**
 * Returns an object that decrypts questions, and caches them because a question never changes. Errors are not cached,
 * because the next attempt may succeed, for example with a root that was added meanwhile.
 */
export function createQuestions(client: ExchangeClient, consumer: Consumer): Questions {
  const cache = new LRUCache<string, { question?: Question }>({
    maxSize: CACHE_SIZE,
    sizeCalculation: (opened, name) => JSON.stringify(opened).length + name.length,
  });
  const open = async (measurement: Measurement): Promise<OpenedQuestion> => {
    const known = cache.get(measurement.name!);
    if (known !== undefined) return known;
    const { question, questionError } = await withQuestion(consumer, measurement);
    if (questionError) return { error: questionError.message };
    const opened = question === undefined ? {} : { question };
    cache.set(measurement.name!, opened);
    return opened;
  };
  const isSame = async (measurement: Measurement) => {
    const { question } = await open(measurement);
    const { question: now } = await withQuestion(consumer, measurement);
    return JSON.stringify(question) === JSON.stringify(now);
  };
  const read = async (name: string): Promise<OpenedQuestion> =>
    cache.get(name) ?? open(await client.getMeasurement({ name }));
  return { open, isSame, read: (names) => byName(names, read) };
}

/** Decrypts the metadata of event groups. Metadata is not cached, because providers may replace it. */
export function readMetadata(consumer: Consumer, names: string[]): Promise<Record<string, OpenedMetadata>> {
  return byName(names, async (name) => {
    try {
      const { metadata } = await consumer.readEventGroup(name);
      if (metadata === undefined) return {};
      const { json, typeUrl, descriptor } = metadata;
      return { metadata: json, typeUrl, descriptor };
    } catch (error) {
      if (error instanceof MetadataUnreadable) return { error: error.message };
      throw error;
    }
  });
}

/** Calls `read` for each name. If a resource does not exist, its entry is an error, and the others are still read. */
async function byName<T>(
  names: string[],
  read: (name: string) => Promise<T>,
): Promise<Record<string, T | { error: string }>> {
  const found: Record<string, T | { error: string }> = {};
  const waiting = [...new Set(names)];
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      found[name] = await read(name).catch((error: unknown) => {
        if (error instanceof ExchangeError && error.code === 'NOT_FOUND') return { error: error.message };
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}
