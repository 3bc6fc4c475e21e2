/** `mex report export`: writes a report as CSV, JSON, or a page of HTML. */
import { writeFile } from 'node:fs/promises';
import { toReportCsv } from '@measurement-exchange/reports';
import type { ReportAnswer } from '@measurement-exchange/sdk';
import { type Command, Option } from 'commander';
import type { ActingOptions } from '../calls/keys.ts';
import { note, toJson } from '../terminal/output.ts';
import { ofReport } from './choose.ts';

const FORMATS = ['csv', 'json', 'html'] as const;
interface ExportOptions extends ActingOptions {
  format: (typeof FORMATS)[number];
  output?: string;
}

export function exportCommand(): Command {
  return ofReport<ExportOptions>(
    'export',
    'write a report as CSV, JSON or HTML',
    async ({ consumer, name }, options) => {
      const answer = await consumer.reports.show(name);
      const text = await textOf(answer, options.json ? 'json' : options.format);
      if (options.output === undefined) {
        process.stdout.write(text);
        return;
      }
      await writeFile(options.output, text);
      note(`Wrote ${options.output}.`);
    },
  )
    .addOption(
      new Option(
        '--format <format>',
        'csv: a row for each number; html: one page with charts, to print or send',
      )
        .choices(FORMATS)
        .default('csv'),
    )
    .option('--output <file>', 'write this file (else standard output)');
}

async function textOf({ document, stored }: ReportAnswer, format: ExportOptions['format']): Promise<string> {
  switch (format) {
    case 'csv':
      return toReportCsv(document);
    case 'json':
      return `${toJson({ name: stored.name, ...document }, 2)}\n`;
    case 'html': {
      // Load this module only for HTML, because it loads the console, which the other formats do not need.
      const { renderReport } = await import('./html.ts');
      return renderReport(document);
    }
  }
}
