/**
 * Reads the data provider's requests (requisitions), decrypts them with its keys, and reads their costs from its
 * ledger.
 */

import type { Requisition } from '@measurement-exchange/contract';
import type { HeldQuestion } from '@measurement-exchange/sdk/provider';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { limited, VERIFIED } from '../../live/useOpened.ts';
import { useResource } from '../../live/useResource.ts';
import { specWords } from '../../parts/specWords.ts';
import { type Session, useSession } from '../../session/session.ts';
import { shareOf } from './budgetDays.ts';

/** A row in a list of requests. It has only a few of a request's fields, because a list may be long. */
export interface RequestRow {
  name: string;
  consumer: string;
  what: string;
  state: Requisition['state'];
  deferral: Requisition['deferral'];
  createTime: string;
  isRemoved: boolean;
}

export function rowOf(requisition: Requisition): RequestRow {
  const { name, measurement, state, deferral, createTime, deleteTime, measurementSpec } = requisition;
  return {
    name: name!,
    consumer: measurement?.split('/')[1] ?? '',
    what: specWords(measurementSpec?.message)?.what ?? '',
    state,
    deferral,
    createTime: createTime ?? '',
    isRemoved: deleteTime !== undefined,
  };
}

const atMost3 = limited(3);

/** Returns the query that decrypts and verifies a request. It runs again when `etag` changes. */
export function requestQuery({ companion, principal }: Session, name: string, etag?: string | undefined) {
  return queryOptions({
    queryKey: ['requests', principal, name, etag],
    queryFn: ({ signal }) => atMost3(() => companion!.requisition({ name }, { signal })),
    enabled: companion !== undefined,
    ...VERIFIED,
  });
}

export function useOpenedRequest(name: string, etag?: string | undefined) {
  return useQuery(requestQuery(useSession(), name, etag));
}

/** The interval between reads of the agent's ledger. The change feed does not report changes to the ledger. */
const LEDGER_INTERVAL_MS = 15_000;

export function useAgent() {
  const { companion } = useSession();
  return useResource('requisitions', ['agent'], (_session, signal) => companion!.agent({}, { signal }), {
    enabled: companion !== undefined,
    refetchInterval: LEDGER_INTERVAL_MS,
  });
}

export function useBudget() {
  const { companion } = useSession();
  return useResource('requisitions', ['budget'], (_session, signal) => companion!.budget({}, { signal }), {
    enabled: companion !== undefined,
    refetchInterval: LEDGER_INTERVAL_MS,
  });
}

/** Returns the privacy cost of each request per event group reference and day, as a share of the budget's limit. */
export function useCosts(): ReadonlyMap<string, number> {
  const { data } = useBudget();
  if (data === undefined || 'missing' in data) return NOTHING;
  const { limit, measurements } = data.view;
  if (limit === undefined) return NOTHING;
  return new Map(measurements.map(({ requisition, cost }) => [requisition, shareOf(cost, limit)]));
}
const NOTHING: ReadonlyMap<string, number> = new Map();

/** Returns whether the ledger charged a request. Returns undefined if this is not known. */
export function useIsCharged(): (requisition: string) => boolean | undefined {
  const { data } = useBudget();
  if (data === undefined || 'missing' in data) return () => undefined;
  const { measurements, hasAllMeasurements } = data.view;
  const charged = new Set(measurements.map(({ requisition }) => requisition));
  return (requisition) => charged.has(requisition) || (hasAllMeasurements ? false : undefined);
}

/** Returns the requests that the agent holds until the provider's operator confirms their event group references. */
export function useHeld(): ReadonlyMap<string, HeldQuestion> {
  const { data } = useAgent();
  const held = data === undefined || 'missing' in data ? [] : data.view.heldQuestions;
  return new Map(held.map((each) => [each.requisition, each]));
}
