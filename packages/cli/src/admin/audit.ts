import type { AuditEntry } from '@measurement-exchange/contract';
import type { Command } from 'commander';
import { type CallOptions, positiveInteger, remote, WHOLE_LIST } from '../calls/command.ts';
import { connect } from '../connection/client.ts';
import { printJson, printTable } from '../terminal/output.ts';
import { shortTime } from '../terminal/times.ts';

export function auditCommand(): Command {
  return remote(
    'audit',
    'who changed what and when, oldest first (measurements have a timeline of their own)',
  )
    .option('--name <resource>', 'only changes of this resource, by its full name')
    .option('--last <count>', 'only this many of the last changes', positiveInteger)
    .action(async (options: CallOptions & { name?: string; last?: number }) => {
      const client = await connect(options);
      let entries: AuditEntry[] = [];
      const log = client.listAuditEntries({ ...WHOLE_LIST, 'filter.name': options.name });
      for await (const page of log.pages()) {
        entries.push(...page.auditEntries);
        if (options.last !== undefined) entries = entries.slice(-options.last);
      }
      if (options.json) return printJson({ auditEntries: entries });
      printTable(
        ['TIME (UTC)', 'WHO', 'WHAT', 'NAME', 'REQUEST ID'],
        entries.map((e) => [shortTime(e.time), e.principal, e.operation, e.name, e.requestId]),
      );
    });
}
