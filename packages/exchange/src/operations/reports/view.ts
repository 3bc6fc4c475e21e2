import type { Report } from '@measurement-exchange/contract';
import { measurementName } from '../../domain/aggregate.ts';
import { type ReportRecord, type ReportWithEntries, reportEtag, reportName } from '../../domain/report.ts';
import { progressOf } from '../../domain/reportEntries.ts';
import type { Version } from '../mutate.ts';

/**
 * Converts a report to an API resource. Derives the state from the measurements, because the stored state may be
 * outdated.
 */
export function viewReport({ report, entries }: ReportWithEntries): Report {
  const { consumer, title, definition, sealedDefinition, definitionHash, sealedAnswer } = report;
  const measurements = entries.map(({ key, measurement }) => ({
    key,
    measurement: measurementName({ consumer, id: measurement }),
  }));
  return {
    name: reportName(report),
    ...{ title, definition, sealedDefinition, definitionHash: definitionHash!, sealedAnswer, measurements },
    state: progressOf(entries).state,
    etag: reportEtag(report),
    createTime: report.createTime,
    updateTime: report.updateTime,
  };
}

export function versionOf(report: ReportRecord): Version {
  return { name: reportName(report), version: report.version, time: report.updateTime };
}
