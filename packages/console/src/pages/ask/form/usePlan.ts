/** Plans the measurement while the form is filled in. Nothing is sent to publishers. */
import type { Protocol } from '@measurement-exchange/contract';
import type { MeasurementRequest } from '@measurement-exchange/sdk';
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Plan } from '../../../companion/methods.ts';
import { useSession } from '../../../session/session.ts';
import { countsPeople } from './form.ts';

export interface Planned {
  /** The newest plan. It may be of an earlier state of the form: see `isCurrent`. */
  plan: Plan | undefined;
  error: Error | null;
  /** Whether the plan or the error is of the form as it is now. */
  isCurrent: boolean;
  /** When the plan was made, in milliseconds since 1970. */
  time: number;
  retry: () => void;
}

/** The time without a change after which the form is planned. */
const PLAN_AFTER_MS = 250;
/** The other ways to count are planned later, because they are less urgent. */
const OTHERS_AFTER_MS = 600;

export function usePlan(request: MeasurementRequest | undefined, assumed: number): Planned {
  const key = keyOf(request, assumed);
  const settled = useSettled(key, PLAN_AFTER_MS);
  const planning = usePlanning();
  const { data, error, isPlaceholderData, isFetching, dataUpdatedAt, refetch } = useQuery({
    ...planning(settled),
    placeholderData: keepPreviousData,
  });
  const isCurrent = key !== undefined && key === settled && !isPlaceholderData && !isFetching;
  return { plan: data, error, isCurrent, time: dataUpdatedAt, retry: () => void refetch() };
}

/** The protocols that count people of several publishers once, and the one that does not. */
const CHOICES: Protocol[] = [
  'honestMajorityShareShuffle',
  'reachOnlyLiquidLegionsV2',
  'liquidLegionsV2',
  'direct',
];

/** One way to count, as planned. */
export interface Method {
  protocol: Protocol;
  plan: Plan | undefined;
  error: Error | null;
}

/** Plans the measurement with each protocol of its type. */
export function useMethods(request: MeasurementRequest | undefined, assumed: number): Method[] {
  const planning = usePlanning();
  const choices = request && countsPeople(request.type) && request.dataProviders.length > 1 ? CHOICES : [];
  const wrong = request?.type === 'reach' ? 'liquidLegionsV2' : 'reachOnlyLiquidLegionsV2';
  const protocols = choices.filter((protocol) => protocol !== wrong);
  const key = useSettled(keyOf(request, assumed), OTHERS_AFTER_MS);
  const keys = protocols.map((protocol) => withProtocol(key, protocol));
  const results = useQueries({
    queries: keys.map((key) => ({ ...planning(key), placeholderData: keepPreviousData<Plan> })),
  });
  return protocols.map((protocol, i) => ({ protocol, plan: results[i]!.data, error: results[i]!.error }));
}

/** Returns the options of a query that plans. A query that nobody waits for any more is aborted. */
function usePlanning() {
  const { companion, principal } = useSession();
  return (key: string | undefined) => ({
    queryKey: [principal, 'plans', key],
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<Plan> =>
      companion!.plan(JSON.parse(key!), { signal }),
    enabled: key !== undefined,
    retry: false,
    staleTime: 60_000,
    gcTime: 60_000,
  });
}

/** The title and the reference change nothing in a plan. */
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

/** Returns the value after it has not changed for a while. An undefined value takes effect at once. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return value === undefined ? value : settled;
}
