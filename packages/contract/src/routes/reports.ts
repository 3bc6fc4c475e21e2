import { Report, ReportInput, ReportUpdate } from '../codecs/report.ts';
import * as s from '../json/schema.ts';
import { PATTERNS } from '../values/names.ts';
import { REPORT_STATES } from '../values/states.ts';
import * as row from './route.ts';

const access = { measurementConsumer: 'own' } as const;
const report = { path: PATTERNS.report, access } as const;
const reports = { path: 'measurementConsumers/{measurementConsumer}/reports', access } as const;

export const REPORT_ROUTES = [
  {
    ...row.CREATE,
    ...reports,
    operation: 'createReport',
    query: s.object({ reportId: s.optional(s.chosenId()), ...row.requestId }),
    body: row.created('report', ReportInput, Report),
    response: Report,
    errors: ['REPORT_ALREADY_EXISTS', 'TOO_MANY_REPORTS', row.dangling('MEASUREMENT_NOT_FOUND')],
    summary: 'Store a report: its definition, and which measurement is for which figure',
  },
  {
    ...row.READ,
    ...report,
    operation: 'getReport',
    response: Report,
    errors: ['REPORT_NOT_FOUND'],
    summary: 'Read a report',
  },
  {
    ...row.LIST,
    ...reports,
    operation: 'listReports',
    query: s.object({
      ...row.paging,
      'filter.states': s.optional(s.array(s.enumOf(REPORT_STATES)), row.STATES),
    }),
    response: s.object({ reports: s.array(Report), nextPageToken: row.nextPageToken }),
    summary: 'List reports, the newest first, without their sealed answers',
  },
  {
    ...row.UPDATE,
    ...report,
    operation: 'updateReport',
    body: row.updated('report', ReportUpdate, Report),
    response: Report,
    errors: ['REPORT_NOT_FOUND', 'REPORT_ETAG_MISMATCH', row.dangling('MEASUREMENT_NOT_FOUND')],
    summary: 'Append measurements to a report, or replace its title or its sealed answer',
  },
  {
    ...row.DELETE,
    ...report,
    operation: 'deleteReport',
    response: Report,
    errors: ['REPORT_NOT_FOUND'],
    summary: 'Delete a report, but none of its measurements; returns what it was',
  },
] as const satisfies readonly row.Route[];
