/** Calls the companion's methods on the server of this page: `mex console`, or a development exchange. */
import type { CompanionErrorBody, CompanionMethod, CompanionMethods, ExchangeDetails } from './methods.ts';

export class CompanionError extends Error {
  override name = 'CompanionError';
  readonly reason: string;
  /** `FilterDetails`, `ExchangeDetails`, another object, or undefined, depending on the reason. */
  readonly details: unknown;

  constructor(reason: string, message: string, details?: unknown) {
    super(message);
    this.reason = reason;
    this.details = details;
  }

  get requestId(): string | undefined {
    return (this.details as Partial<ExchangeDetails> | undefined)?.requestId;
  }
}

export type Companion = {
  [M in CompanionMethod]: (
    input: Parameters<CompanionMethods[M]>[0],
    options?: { signal?: AbortSignal },
  ) => Promise<ReturnType<CompanionMethods[M]>>;
};

export function createCompanion(headers: () => Promise<HeadersInit> | HeadersInit): Companion {
  const call = async (method: string, input: unknown, signal?: AbortSignal) => {
    const response = await fetch(`/companion/${method}`, {
      method: 'POST',
      headers: { ...(await headers()), 'content-type': 'application/json' },
      body: JSON.stringify(input),
      ...(signal && { signal }),
    });
    if (response.ok)
      return JSON.parse(await response.text(), WITH_INTERVALS.includes(method) ? withInfinity : undefined);
    const body: Partial<CompanionErrorBody> = await response.json().catch(() => ({}));
    const { reason = 'UNKNOWN', message = `The companion answered ${response.status}.`, details } = body;
    throw new CompanionError(reason, message, details);
  };
  return new Proxy({} as Companion, {
    get: (_, method: string) => (input: unknown, options?: { signal?: AbortSignal }) =>
      call(method, input, options?.signal),
  });
}

/** The methods whose responses contain intervals, in which null must become Infinity. */
const WITH_INTERVALS = ['result', 'report'];

/**
 * Converts null back to Infinity. An unknown variance, standard deviation, or interval end is Infinity in an
 * `Estimate`, and null in JSON.
 */
function withInfinity(key: string, value: unknown): unknown {
  if (key === 'variance' || key === 'standardDeviation') return value ?? Number.POSITIVE_INFINITY;
  return key === 'interval' && Array.isArray(value)
    ? value.map((end) => end ?? Number.POSITIVE_INFINITY)
    : value;
}
