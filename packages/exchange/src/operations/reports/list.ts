import { REPORT_STATES } from '@measurement-exchange/contract';
import { listReports as list } from '../../database/reports.ts';
import { partyOf } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { byCreation, MAX_PAGE_BYTES, START } from '../paging.ts';
import { viewReport } from './view.ts';

export const listReports: Handler<'listReports'> = async (exchange, _call, { path, query }) => {
  const consumer = partyOf(path);
  const states = [...new Set(query['filter.states'] ?? REPORT_STATES)].sort();
  const page = exchange.pageTokens.page(['listReports', consumer, states], query);
  const after = page.after === START ? { time: 'infinity', id: '' } : page.after;
  const { items, more } = await list(exchange.db, consumer, states, after, page.limit, MAX_PAGE_BYTES);
  const views = items.map((item) => ({ ...viewReport(item), sealedAnswer: undefined }));
  return {
    // Filter again by the current state, because the stored state that selected the reports may be outdated.
    reports: views.filter(({ state }) => states.includes(state)),
    nextPageToken: page.next(more, items, ({ report }) => byCreation(report)),
  };
};
