import {
  appendEntries,
  getReport,
  lockReport,
  saveReport,
  saveReportWithAnswer,
} from '../../database/reports.ts';
import { partyOf } from '../../domain/access.ts';
import { requireFound } from '../../domain/found.ts';
import { requireCurrent, requireValid, updateReport as update } from '../../domain/report.ts';
import { newEntries } from '../../domain/reportEntries.ts';
import type { Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { withStates } from './measurements.ts';
import { versionOf, viewReport } from './view.ts';

export const updateReport: Handler<'updateReport'> = async (exchange, call, request) => {
  const { body, params, path } = request;
  const consumer = partyOf(path);
  requireValid(consumer, body);
  return mutate('updateReport', exchange, call, request, async (tx) => {
    // Read the report first without a lock, to find out which measurements are new. These measurements must be locked
    // before the report, because other transactions also lock in this order.
    const seen = requireFound(await getReport(tx, consumer, params.report), 'REPORT_NOT_FOUND', path);
    requireCurrent(seen.report, body);
    const added = newEntries(consumer, seen.entries, body.measurements);
    const appended = await withStates(tx, consumer, added);

    const locked = await lockReport(tx, consumer, params.report);
    const before = requireFound(locked, 'REPORT_NOT_FOUND', path);
    requireCurrent(before.report, body);
    const entries = [...before.entries, ...appended];
    const report = update(before.report, body, entries, exchange.clock());
    const save = body.sealedAnswer === undefined ? saveReport : saveReportWithAnswer;
    return {
      save: () => {
        save(tx, report, report.updateTime);
        appendEntries(tx, report, before.entries.length, added);
      },
      versions: [versionOf(report)],
      view: () => viewReport({ report, entries }),
    };
  });
};
