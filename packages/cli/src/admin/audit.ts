import type { Command } from 'commander';
import { connect } from '../client.ts';
import { printJson, printTable } from '../output.ts';
import { type CallOptions, positiveInteger, remote } from './command.ts';

interface AuditEntry {
  time: string;
  principal: string;
  operation: string;
  name: string;
  requestId: string;
}

export function auditCommand(): Command {
  return remote(
    'audit',
    'who changed what and when, oldest first (measurements have a timeline of their own)',
  )
    .option('--name <resource>', 'only changes of this resource, by its full name')
    .option('--last <count>', 'only the last so many', positiveInteger)
    .action(async (options: CallOptions & { name?: string; last?: number }) => {
      const client = await connect(options);
      const query: Record<string, string> = options.name === undefined ? {} : { 'filter.name': options.name };
      let entries: AuditEntry[] = [];
      for await (const page of client.pages<AuditEntry>('auditEntries', 'auditEntries', query)) {
        entries.push(...page);
        if (options.last !== undefined) entries = entries.slice(-options.last);
      }
      if (options.json) return printJson({ auditEntries: entries });
      printTable(
        ['TIME', 'WHO', 'WHAT', 'NAME', 'REQUEST ID'],
        entries.map((e) => [e.time, e.principal, e.operation, e.name, e.requestId]),
      );
    });
}
