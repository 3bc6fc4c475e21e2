import {
  canonicalJson,
  ExchangeError,
  type Report,
  ReportInput,
  type RequestOf,
} from '@measurement-exchange/contract';
import { lockParty } from '../../database/parties.ts';
import {
  appendEntries,
  countReports,
  findByRequestId,
  getReport,
  insertReport,
  isIdTaken,
} from '../../database/reports.ts';
import { partyName } from '../../domain/access.ts';
import { MAX_REPORTS, newReport, reportName, requireValid } from '../../domain/report.ts';
import { newEntries } from '../../domain/reportEntries.ts';
import type { Call, Exchange, Handler } from '../context.ts';
import { contentHash, idempotently, requireSameContent } from '../idempotency.ts';
import { mutate } from '../mutate.ts';
import { withStates } from './measurements.ts';
import { versionOf, viewReport } from './view.ts';

type Request = RequestOf<'createReport'>;

export const createReport: Handler<'createReport'> = (exchange, call, request) => {
  const consumer = partyName('measurementConsumer', request.params.measurementConsumer);
  requireValid(consumer, request.body);
  const id = request.query.reportId ?? exchange.newId();
  // A concurrent request may have the same requestId and the same reportId, so either unique index may reject the
  // insert.
  return idempotently('reports_request_id', 1, () =>
    idempotently('reports_pkey', 1, () => attempt(exchange, call, request, { consumer, id })),
  );
};

function attempt(
  exchange: Exchange,
  call: Call,
  request: Request,
  ids: { consumer: string; id: string },
): Promise<Report> {
  const { consumer } = ids;
  const key = requestKeyOf(request);
  return mutate('createReport', exchange, call, request, async (tx) => {
    // Look for the reportId first. In the other order, a duplicate of this request could commit between the two
    // statements. This request would then fail because its reportId is taken, instead of returning the existing report.
    const [isTaken, earlier] = await Promise.all([
      request.query.reportId !== undefined && isIdTaken(tx, consumer, ids.id),
      key && findByRequestId(tx, consumer, key.id),
    ]);
    if (earlier !== undefined) {
      requireSameContent(earlier.hash, key!.hash, key!.id, reportName({ consumer, id: earlier.id }));
      const existing = await getReport(tx, consumer, earlier.id);
      if (existing !== undefined) return { view: () => viewReport(existing) };
      // The report was deleted after it was found, so its requestId is free.
    }
    if (isTaken && earlier === undefined) throw alreadyExists(reportName(ids));
    const added = newEntries(consumer, [], request.body.measurements);
    const entries = await withStates(tx, consumer, added);
    const now = exchange.clock();
    // The lock makes a consumer's requests run one after another, so that they cannot exceed the limit.
    const [, count] = await Promise.all([lockParty(tx, consumer, now), countReports(tx, consumer)]);
    if (count >= MAX_REPORTS) throw tooManyReports(consumer);
    const report = newReport(ids, request.body, entries, now);
    return {
      save: () => {
        insertReport(tx, report, key);
        appendEntries(tx, report, 0, added);
      },
      versions: [versionOf(report)],
      view: () => viewReport({ report, entries }),
    };
  });
}

function requestKeyOf({ requestId, query, body }: Request) {
  if (requestId === undefined) return undefined;
  return { id: requestId, hash: contentHash(`${query.reportId ?? ''} ${canonicalJson(ReportInput, body)}`) };
}

function alreadyExists(existing: string): ExchangeError {
  const message = `${existing} exists already, or was deleted: choose another reportId.`;
  return new ExchangeError('REPORT_ALREADY_EXISTS', message, { metadata: { existing } });
}

function tooManyReports(consumer: string): ExchangeError {
  const message = `${consumer} has ${MAX_REPORTS} reports, and may have no more: delete some.`;
  return new ExchangeError('TOO_MANY_REPORTS', message);
}
