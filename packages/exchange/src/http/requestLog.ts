/** One log line a request, and its metrics. */
import { API_PREFIX, type ExchangeError, formatPath } from '@measurement-exchange/contract';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { defer } from '../observability/deferred.ts';
import { logAt } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import { isApiUrl } from './api.ts';

const refusals = new WeakMap<object, ExchangeError>();

/** Notes why a request is refused. */
export function noteRefusal(request: FastifyRequest, refusal: ExchangeError): void {
  refusals.set(request, refusal);
}

export function logRequest(
  log: Logger,
  metrics: Metrics,
  request: FastifyRequest,
  reply: { statusCode: number; elapsedTime: number },
): void {
  const at = Date.now();
  const { id, method, originalUrl } = request;
  const { match, principal, call } = request.progress;
  const { statusCode: status, elapsedTime } = reply;
  const refusal = refusals.get(request);
  defer(() => {
    const operation = match?.route.operation ?? (isApiUrl(originalUrl) ? 'none' : 'page');
    metrics.request(operation, refusal?.code ?? 'OK', elapsedTime / 1000);
    // An allow-list: names yes, bodies, queries, tokens and header values never.
    const line = {
      requestId: id,
      method,
      operation,
      name: match && formatPath(match.route, match.params).slice(API_PREFIX.length + 1),
      principal: principal?.name,
      status,
      code: refusal?.code,
      reason: refusal?.reason,
      fields: refusal?.violations.map((v) => v.field).slice(0, 10),
      findings: call?.findings.length ? call.findings.map((f) => f.code) : undefined,
      // Why a token was refused is said here and nowhere else.
      why: refusal?.reason === 'TOKEN_INVALID' ? String(refusal.cause) : undefined,
      error: status >= 500 ? describe(refusal?.cause) : undefined,
      ms: Math.round(elapsedTime * 100) / 100,
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
