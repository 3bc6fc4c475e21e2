import { expect, it } from 'vitest';
import {
  deleteReport,
  newReport,
  type ReportRecord,
  reportEtag,
  requireCurrent,
  settleReport,
  updateReport,
} from './report.ts';
import type { Entry } from './reportEntries.ts';

const EARLY = '2026-01-01T00:00:00.000000Z';
const LATE = '2026-01-02T00:00:00.000000Z';
const SEALED = { ciphertext: Buffer.from('sealed'), typeUrl: 'type' };
const HASH = Buffer.alloc(32, 1);
const pending: Entry = { key: 'a'.repeat(64), measurement: 'm', state: 'COMPUTING' };
const ended: Entry = { ...pending, state: 'SUCCEEDED' };

function report(...entries: Entry[]): ReportRecord {
  const ids = { consumer: 'measurementConsumers/acme', id: 'report' };
  return newReport(ids, { sealedDefinition: SEALED, definitionHash: HASH }, entries, EARLY);
}

it('an update gives a new version with a new etag, and keeps the fields that it omits', () => {
  const before = { ...report(), title: 'old', sealedAnswer: SEALED };
  const after = updateReport(before, { etag: '' }, [pending], LATE);
  expect(after).toEqual({
    ...before,
    measurementCount: 1,
    state: 'RUNNING',
    waitingFor: 'm',
    revision: 2,
    version: 2,
    updateTime: LATE,
  });
  expect(reportEtag(after)).not.toBe(reportEtag(before));
});

it('a new state is a new version with the same etag and update time', () => {
  const before = report(pending);
  const after = settleReport({ report: before, entries: [ended] });
  expect(after).toEqual({ ...before, state: 'COMPLETE', waitingFor: undefined, version: 2 });
  expect(reportEtag(after)).toBe(reportEtag(before));
});

it('the same state gives no new version, even if the report waits for another measurement', () => {
  const before = report(pending);
  const other = { ...pending, measurement: 'other' };
  expect(settleReport({ report: before, entries: [other, ended] })).toEqual({
    ...before,
    waitingFor: 'other',
  });
});

it('a deleted report keeps its name and revision, but not its content', () => {
  const before = { ...report(pending), title: 'title', definition: '{}', sealedAnswer: SEALED };
  const { consumer, id, createTime, revision } = before;
  expect(deleteReport(before, LATE)).toEqual({
    ...{ consumer, id, createTime, revision, version: 2, updateTime: LATE, state: 'DELETED' },
    ...{ measurementCount: 0, waitingFor: undefined, title: undefined, definition: undefined },
    ...{ sealedDefinition: undefined, definitionHash: undefined, sealedAnswer: undefined },
  });
});

it('an update may repeat the definition, but not change it', () => {
  const before = report();
  const etag = reportEtag(before);
  const same = {
    sealedDefinition: { ...SEALED, ciphertext: Buffer.from('sealed') },
    definitionHash: Buffer.from(HASH),
  };
  requireCurrent(before, { etag, ...same });
  const wrong = [
    { definition: '{}' },
    { sealedDefinition: { ...SEALED, typeUrl: 'other' } },
    { sealedDefinition: { ...SEALED, ciphertext: Buffer.from('other') } },
    { definitionHash: Buffer.alloc(32, 2) },
  ];
  for (const update of wrong)
    expect(() => requireCurrent(before, { etag, ...update })).toThrow(/definition/i);
  expect(() => requireCurrent(before, { etag: 'stale' })).toThrow(/read it again/);
});
