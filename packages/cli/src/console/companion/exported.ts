/** Converts a report to the text of a CSV, JSON or HTML file. */
import type { ReportFormat } from '@measurement-exchange/console/companion';
import { toReportCsv } from '@measurement-exchange/reports';
import type { ReportAnswer } from '@measurement-exchange/sdk';
import { renderReport } from '../../report/html.ts';

export function exported({ document }: ReportAnswer, format: ReportFormat): string {
  switch (format) {
    case 'csv':
      return toReportCsv(document);
    case 'json':
      return `${JSON.stringify(document, null, 2)}\n`;
    case 'html':
      return renderReport(document);
  }
}
