import { getReport as get } from '../../database/reports.ts';
import { partyOf } from '../../domain/access.ts';
import { requireFound } from '../../domain/found.ts';
import type { Handler } from '../context.ts';
import { viewReport } from './view.ts';

export const getReport: Handler<'getReport'> = async (exchange, _call, { params, path }) => {
  const found = await get(exchange.db, partyOf(path), params.report);
  return viewReport(requireFound(found, 'REPORT_NOT_FOUND', path));
};
