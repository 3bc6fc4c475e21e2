/** Logs one line per request and counts the request in the metrics. */
import { API_PREFIX, type ExchangeError, formatPath, type Match } from '@measurement-exchange/contract';
import type { Logger } from 'pino';
import { defer } from '../observability/deferred.ts';
import { logAt } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Call, Principal } from '../operations/index.ts';
import type { Quota } from './rateLimiter.ts';

/** The progress of one request. The server creates this object, and the pipeline fills it in. */
export interface Progress {
  readonly requestId: string;
  principal?: Principal;
  match?: Match;
  quota?: Quota;
  call?: Call | undefined;
  error?: ExchangeError;
}

export interface Outcome {
  /**
   * The metrics label of a request that reached no operation: `page` if the request was for a page outside the API or
   * for a service without authentication (such as the health service), else `none`.
   */
  kind: 'none' | 'page';
  /** Log fields of the server, such as the method and the status. */
  wire: Record<string, string | number>;
  /** The request's duration. Undefined for input that never became a request. Such input is logged but not counted. */
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
    // Use the HTTP status, because the error code does not tell whether the exchange or the caller is at fault.
    const isFailure = error !== undefined && error.httpStatus >= 500;
    if (ms !== undefined) metrics.request(operation, code, ms / 1000);
    // The line contains names, but must not contain bodies, queries, tokens, or header values.
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
      // Log why a token was rejected, because the response does not contain the reason.
      why: error?.reason === 'TOKEN_INVALID' ? String(error.cause) : undefined,
      error: isFailure ? describe(error?.cause) : undefined,
      ms: ms && Math.round(ms * 100) / 100,
    };
    logAt(at, () => (isFailure ? log.error(line, 'request') : log.info(line, 'request')));
  });
}

/** Returns only fields that are safe to log. Other fields of a database error contain row data. */
function describe(error: unknown): object | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, message, stack } = error;
  return { name, message, code: (error as { code?: string }).code, stack };
}
