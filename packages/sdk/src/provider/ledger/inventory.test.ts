import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readLedger } from '../ledger/reading.ts';
import { confirmReferences, openLedger } from '../ledger.ts';

const BUDGET = { epsilon: 1, delta: 0, rho: 1 };
let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mex-inventory-'));
  path = join(directory, 'ledger.sqlite');
});
afterEach(() => rmSync(directory, { recursive: true }));

function read() {
  const reader = readLedger(path);
  try {
    return {
      confirmed: reader.confirmedReferences().map(({ reference }) => reference),
      held: reader.heldQuestions(),
    };
  } finally {
    reader.close();
  }
}

it('a reference can be confirmed before and while the agent runs, and is stored once', () => {
  confirmReferences(path, ['spring']);
  const ledger = openLedger(path, BUDGET);
  expect([ledger.isConfirmed('spring'), ledger.isConfirmed('summer')]).toEqual([true, false]);
  confirmReferences(path, ['summer', 'spring']);
  expect([ledger.isConfirmed('summer'), ledger.isConfirmed('Summer')]).toEqual([true, false]);
  expect(read().confirmed).toEqual(['spring', 'summer']);
  expect(ledger.audit()).toEqual([]);
  ledger.close();
});

it('a held question keeps its start time if its references change, and can be removed', () => {
  const ledger = openLedger(path, BUDGET);
  const about = (requisition: string, references: string[]) =>
    ledger.held.set({ requisition, measurementConsumer: 'measurementConsumers/acme', references });
  about('r1', ['spring', 'summer']);
  about('r2', ['spring']);
  const { since } = read().held[0]!;
  about('r1', ['summer']);
  expect(read().held.map(({ requisition, references }) => [requisition, references])).toEqual([
    ['r1', ['summer']],
    ['r2', ['spring']],
  ]);
  expect(read().held[0]!.since).toBe(since);
  ledger.held.keepOnly(new Set(['r2']));
  expect(read().held.map(({ requisition }) => requisition)).toEqual(['r2']);
  ledger.held.remove('r2');
  expect(read().held).toEqual([]);
  ledger.close();
});

it('confirmReferences updates a ledger of schema 4, and rejects an unknown later schema', () => {
  openLedger(path, BUDGET).close();
  const database = new DatabaseSync(path);
  database.exec(`
    DROP TABLE confirmed_references; DROP TABLE held; DROP TABLE questions;
    DROP TABLE charges; DROP TABLE totals; DROP TABLE slices;
    CREATE TABLE charges (requisition TEXT, reference TEXT, day TEXT, epsilon INTEGER, delta INTEGER, rho INTEGER);
    CREATE TABLE totals (reference TEXT, day TEXT, epsilon INTEGER, delta INTEGER, rho INTEGER);
    PRAGMA user_version = 4`);
  confirmReferences(path, ['spring']);
  expect(read().confirmed).toEqual(['spring']);
  database.exec('PRAGMA user_version = 99');
  database.close();
  expect(() => confirmReferences(path, ['summer'])).toThrow('has schema 99');
});
