/** One log line per request, and its metrics. */
import { API_PREFIX, type ExchangeError, formatPath, type Match } from '@measurement-exchange/contract';
import type { Logger } from 'pino';
import { defer } from '../observability/deferred.ts';
import { logAt } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Call, Principal } from '../operations/index.ts';
import type { Quota } from './rateLimiter.ts';

/** The facts known about a request so far. Every face makes one per request, and the pipeline fills it in. */
export interface Progress {
  readonly requestId: string;
  principal?: Principal;
  match?: Match;
  quota?: Quota;
  /** The call that the operation got; it has the findings. */
  call?: Call | undefined;
  /** Why the request was rejected. */
  error?: ExchangeError;
}

/** How a request ended, as far as only the face knows. */
export interface Outcome {
  /** Counts requests that reached no operation: `none`, or `page` for a page beside the API. */
  kind: 'none' | 'page';
  /** Fields of the face for the log line, such as the method and the status of HTTP. */
  wire: Record<string, string | number>;
  /** Absent for what never became a request: it is logged, not counted. */
  ms?: number;
}

export function observe(log: Logger, metrics: Metrics, progress: Progress, outcome: Outcome): void {
  const at = Date.now();
  const { requestId, match, principal, error } = progress;
  const findings = progress.call?.findings ?? [];
  const { kind, wire, ms } = outcome;
  defer(() => {
    const operation = match?.route.operation ?? kind;
    const code = error?.code ?? 'OK';
    // The table of reasons tells the exchange's failures from the caller's, also where they share a code.
    const isFailure = error !== undefined && error.httpStatus >= 500;
    if (ms !== undefined) metrics.request(operation, code, ms / 1000);
    // An allow-list: names yes; bodies, queries, tokens and header values never.
    const line = {
      requestId,
      ...wire,
      operation,
      name: match && formatPath(match.route, match.params).slice(API_PREFIX.length + 1),
      principal: principal?.name,
      code: error?.code,
      reason: error?.reason,
      fields: error?.violations.map((violation) => violation.field).slice(0, 10),
      findings: findings.length > 0 ? findings.map((finding) => finding.code) : undefined,
      // The log is the only place that tells why a token was rejected.
      why: error?.reason === 'TOKEN_INVALID' ? String(error.cause) : undefined,
      error: isFailure ? describe(error?.cause) : undefined,
      ms: ms && Math.round(ms * 100) / 100,
    };
    logAt(at, () => (isFailure ? log.error(line, 'request') : log.info(line, 'request')));
  });
}

/** Name, text and place only: the other fields of a database error quote rows. */
function describe(error: unknown): object | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, message, stack } = error;
  return { name, message, code: (error as { code?: string }).code, stack };
}
