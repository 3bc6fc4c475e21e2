/** Plans the measurement while the user fills in the form. Nothing is sent to publishers. */
import type { Protocol } from '@measurement-exchange/contract';
import type { MeasurementRequest } from '@measurement-exchange/sdk';
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Plan } from '../../../companion/methods.ts';
import { useSession } from '../../../session/session.ts';
import { countsPeople } from './form.ts';

export interface Planned {
  /** The newest plan. If `isCurrent` is false, the plan belongs to an earlier state of the form. */
  plan: Plan | undefined;
  error: Error | null;
  /** True if the plan or the error belongs to the current state of the form. */
  isCurrent: boolean;
  /** The time at which the plan was made, in epoch milliseconds. */
  time: number;
  retry: () => void;
}

/** The measurement is planned once the form has not changed for this long. */
const PLAN_AFTER_MS = 250;
/** The other protocols are planned once the form has not changed for this long. Their plans are less urgent. */
const OTHERS_AFTER_MS = 600;
/**
 * If planning fails, or the plan has a rejection or findings, the form plans again after this pause. The reason may
 * have disappeared: a publisher may have renewed its key, or the exchange may be available again.
 */
const AGAIN_AFTER_MS = 5_000;

export function usePlan(request: MeasurementRequest | undefined, assumed: number): Planned {
  const key = keyOf(request, assumed);
  const settled = useSettled(key, PLAN_AFTER_MS);
  const planning = usePlanning();
  const { data, isPlaceholderData, dataUpdatedAt, refetch } = useQuery({
    ...planning(settled),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data && isRejected(state.data) ? AGAIN_AFTER_MS : false),
  });
  const isCurrent = key !== undefined && key === settled && data !== undefined && !isPlaceholderData;
  return { ...NOT_PLANNED, ...data, isCurrent, time: dataUpdatedAt, retry: () => void refetch() };
}

interface Outcome {
  plan: Plan | undefined;
  error: Error | null;
}

const NOT_PLANNED: Outcome = { plan: undefined, error: null };

const isRejected = ({ plan }: Outcome) =>
  plan === undefined || plan.rejection !== undefined || plan.findings.length > 0;

/** The protocols that can count people across publishers, and `direct`, which cannot. */
const CHOICES: Protocol[] = [
  'honestMajorityShareShuffle',
  'reachOnlyLiquidLegionsV2',
  'liquidLegionsV2',
  'direct',
];

export interface Method extends Outcome {
  protocol: Protocol;
}

export function useMethods(request: MeasurementRequest | undefined, assumed: number): Method[] {
  const planning = usePlanning();
  const choices = request && countsPeople(request.type) && request.dataProviders.length > 1 ? CHOICES : [];
  const wrong = request?.type === 'reach' ? 'liquidLegionsV2' : 'reachOnlyLiquidLegionsV2';
  const protocols = choices.filter((protocol) => protocol !== wrong);
  const key = useSettled(keyOf(request, assumed), OTHERS_AFTER_MS);
  const keys = protocols.map((protocol) => withProtocol(key, protocol));
  const results = useQueries({
    queries: keys.map((key) => ({ ...planning(key), placeholderData: keepPreviousData<Outcome> })),
  });
  return protocols.map((protocol, i) => ({ protocol, ...NOT_PLANNED, ...results[i]!.data }));
}

/** Returns a function that creates query options for a plan. A query that is no longer needed is aborted. */
function usePlanning() {
  const { companion, principal } = useSession();
  return (key: string | undefined) => ({
    queryKey: [principal, 'plans', key],
    // Return an error as a result, so that it stays on the page while the plan is made again.
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Outcome> => {
      try {
        return { plan: await companion!.plan(JSON.parse(key!), { signal }), error: null };
      } catch (error) {
        signal.throwIfAborted();
        return { plan: undefined, error: error as Error };
      }
    },
    enabled: key !== undefined,
    retry: false,
    staleTime: 60_000,
    gcTime: 60_000,
  });
}

/** Returns the key of a plan. The key leaves out the title and the reference, because they do not affect the plan. */
function keyOf(request: MeasurementRequest | undefined, assumed: number): string | undefined {
  if (request === undefined) return undefined;
  const { title: _, referenceId: __, ...planned } = request;
  return JSON.stringify({ request: planned, assumed });
}

function withProtocol(key: string | undefined, protocol: Protocol): string | undefined {
  if (key === undefined) return undefined;
  const { request, assumed } = JSON.parse(key) as { request: MeasurementRequest; assumed: number };
  return JSON.stringify({ request: { ...request, protocol }, assumed });
}

/** Returns the last value that did not change for `ms` milliseconds. An undefined value takes effect immediately. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return value === undefined ? value : settled;
}
