/** One log line per request, and its metrics. */
import { API_PREFIX, type ExchangeError, formatPath, type Match } from '@measurement-exchange/contract';
import type { Logger } from 'pino';
import { defer } from '../observability/deferred.ts';
import { logAt } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Call, Principal } from '../operations/index.ts';
import type { Quota } from './rateLimiter.ts';

/** What is known of a request so far. Every face makes one per request, and the pipeline fills it in. */
export interface Progress {
  readonly requestId: string;
  principal?: Principal;
  match?: Match;
  quota?: Quota;
  /** What the operation was given; it holds what the checks found. */
  call?: Call;
  /** Why the request was rejected. */
  error?: ExchangeError;
}

/** What only the face knows of a request that is done. */
export interface Outcome {
  /** Where no operation was found: `none`, or `page` for what is not of the API. */
  kind: 'none' | 'page';
  method?: string;
  /** As HTTP counts. */
  status: number;
  /** Absent for what never became a request: it is logged, not counted. */
  ms?: number;
}

export function observe(log: Logger, metrics: Metrics, progress: Progress, outcome: Outcome): void {
  const at = Date.now();
  const { requestId, match, principal, error } = progress;
  const findings = progress.call?.findings ?? [];
  const { kind, method, status, ms } = outcome;
  defer(() => {
    const operation = match?.route.operation ?? kind;
    if (ms !== undefined) metrics.request(operation, error?.code ?? 'OK', ms / 1000);
    // An allow-list: names yes; bodies, queries, tokens and header values never.
    const line = {
      requestId,
      method,
      operation,
      name: match && formatPath(match.route, match.params).slice(API_PREFIX.length + 1),
      principal: principal?.name,
      status,
      code: error?.code,
      reason: error?.reason,
      fields: error?.violations.map((violation) => violation.field).slice(0, 10),
      findings: findings.length > 0 ? findings.map((finding) => finding.code) : undefined,
      // The log is the only place that tells why a token was rejected.
      why: error?.reason === 'TOKEN_INVALID' ? String(error.cause) : undefined,
      error: status >= 500 ? describe(error?.cause) : undefined,
      ms: ms && Math.round(ms * 100) / 100,
    };
    logAt(at, () => (status >= 500 ? log.error(line, 'request') : log.info(line, 'request')));
  });
}

/** Name, text and place only: the other fields of a database error quote rows. */
function describe(error: unknown): object | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, message, stack } = error;
  return { name, message, code: (error as { code?: string }).code, stack };
}
