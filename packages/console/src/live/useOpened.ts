/**
 * Decrypts questions and results with the party's keys. The page caches questions, because questions never change. The
 * page opens results again every five minutes, because a later verification may fail.
 */
import { queryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { Companion } from '../companion/client.ts';
import { type OpenedQuestion, type OpenedResult, VERIFIED_MS } from '../companion/methods.ts';
import { type Session, useSession } from '../session/session.ts';

/** Returns the query for a measurement's question. Questions that are requested at the same time share one call. */
export function questionQuery({ companion, principal }: Session, name: string) {
  return queryOptions({
    queryKey: ['questions', principal, name],
    queryFn: () => questionsOf(companion!)(name),
    enabled: companion !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Options for queries of verified data. The data is verified again regularly, even while a page shows it. */
export const VERIFIED = { staleTime: VERIFIED_MS, refetchInterval: VERIFIED_MS };

export function resultQuery({ companion, principal }: Session, name: string) {
  return queryOptions({
    queryKey: ['results', principal, name],
    queryFn: ({ signal }) => atMost3(() => companion!.result({ name }, { signal })),
    enabled: companion !== undefined,
    ...VERIFIED,
  });
}

export function useQuestion(name: string, { enabled = true } = {}): UseQueryResult<OpenedQuestion> {
  const query = questionQuery(useSession(), name);
  return useQuery({ ...query, enabled: enabled && query.enabled === true });
}

export function useResult(name: string, { enabled = true } = {}): UseQueryResult<OpenedResult> {
  const query = resultQuery(useSession(), name);
  return useQuery({ ...query, enabled: enabled && query.enabled === true });
}

const MAX_NAMES = 100;
const COLLECT_MS = 10;
type Open = (name: string) => Promise<OpenedQuestion>;
const opens = new WeakMap<Companion, Open>();

function questionsOf(companion: Companion): Open {
  const open = opens.get(companion) ?? batchedQuestions(companion);
  opens.set(companion, open);
  return open;
}

/** Returns a function that opens one question. Combines up to 100 calls within 10 ms into one call to the companion. */
export function batchedQuestions(companion: Pick<Companion, 'questions'>): Open {
  let waiting = new Map<string, PromiseWithResolvers<OpenedQuestion>>();
  const flush = async () => {
    const batch = waiting;
    waiting = new Map();
    if (batch.size === 0) return;
    try {
      const opened = await companion.questions({ names: [...batch.keys()] });
      for (const [name, { resolve }] of batch) resolve(opened[name] ?? {});
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
  };
  return (name) => {
    if (waiting.size === 0) setTimeout(() => void flush(), COLLECT_MS);
    const answer = waiting.get(name) ?? Promise.withResolvers<OpenedQuestion>();
    waiting.set(name, answer);
    if (waiting.size >= MAX_NAMES) void flush();
    return answer.promise;
  };
}

/** Runs at most three calls in parallel. A browser opens only a few connections, and other calls need some of them. */
const atMost3 = limited(3);

export function limited(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
