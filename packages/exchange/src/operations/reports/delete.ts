import { lockReport, saveDeletedReport } from '../../database/reports.ts';
import { partyOf } from '../../domain/access.ts';
import { requireFound } from '../../domain/found.ts';
import { deleteReport as remove } from '../../domain/report.ts';
import type { Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { versionOf, viewReport } from './view.ts';

export const deleteReport: Handler<'deleteReport'> = (exchange, call, request) => {
  const { params, path } = request;
  return mutate('deleteReport', exchange, call, request, async (tx) => {
    const locked = await lockReport(tx, partyOf(path), params.report);
    const before = requireFound(locked, 'REPORT_NOT_FOUND', path);
    const deleted = remove(before.report, exchange.clock());
    return {
      save: () => saveDeletedReport(tx, deleted),
      versions: [versionOf(deleted)],
      view: () => viewReport(before),
    };
  });
};
