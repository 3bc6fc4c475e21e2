import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { costInUnits } from '@measurement-exchange/mpc/charges';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readLedger } from '../ledger/reading.ts';
import type { RequisitionResponse } from '../ledger/responses.ts';
import { type Ledger, openLedger } from '../ledger.ts';

const BUDGET = { epsilon: 1, delta: 1e-6, rho: 0.5 };

let directory: string;
let path: string;
let ledger: Ledger;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mex-ledger-'));
  path = join(directory, 'ledger.sqlite');
});
afterEach(() => {
  ledger.close();
  rmSync(directory, { recursive: true });
});

const named = (id: number) => `dataProviders/p/requisitions/r${id}`;
const result = (seed: number): RequisitionResponse => ({
  encryptedResult: { ciphertext: Uint8Array.of(seed, 0, 255), typeUrl: 'type.googleapis.com/x' },
  nonce: 2n ** 64n - BigInt(seed),
  certificate: 'dataProviders/p/certificates/c',
});

describe('a ledger of schema 1', () => {
  /** A ledger as version 1 wrote it: two results and a refusal. One of the results was charged to two event groups. */
  const VERSION_1 = `
    CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE answers (
      requisition TEXT PRIMARY KEY, answered_at TEXT NOT NULL, certificate TEXT, nonce TEXT, type_url TEXT,
      ciphertext BLOB, justification TEXT, message TEXT,
      CHECK (CASE WHEN justification IS NULL
        THEN certificate IS NOT NULL AND nonce IS NOT NULL AND type_url IS NOT NULL AND ciphertext IS NOT NULL
        ELSE ciphertext IS NULL END)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE charges (
      requisition TEXT NOT NULL REFERENCES answers, event_group TEXT NOT NULL, day TEXT NOT NULL,
      epsilon INTEGER NOT NULL CHECK (epsilon >= 0), delta INTEGER NOT NULL CHECK (delta >= 0),
      rho INTEGER NOT NULL CHECK (rho >= 0), PRIMARY KEY (requisition, event_group, day)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE totals (
      event_group TEXT NOT NULL, day TEXT NOT NULL, epsilon INTEGER NOT NULL, delta INTEGER NOT NULL,
      rho INTEGER NOT NULL, PRIMARY KEY (event_group, day)
    ) STRICT, WITHOUT ROWID;
    PRAGMA user_version = 1;
    INSERT INTO settings VALUES ('provider', 'dataProviders/p');
    INSERT INTO answers VALUES
      ('${named(1)}', '2026-07-30T00:00:00Z', 'dataProviders/p/certificates/c', '18446744073709551615',
        'type.googleapis.com/x', x'0100ff', NULL, NULL),
      ('${named(2)}', '2026-07-30T00:00:01Z', 'dataProviders/p/certificates/c', '18446744073709551614',
        'type.googleapis.com/x', x'0200ff', NULL, NULL),
      ('${named(3)}', '2026-07-30T00:00:02Z', NULL, NULL, NULL, NULL, 'SPEC_INVALID', 'no such group');
    INSERT INTO charges VALUES
      ('${named(1)}', 'dataProviders/p/eventGroups/a', '2026-07-28', 100000000, 0, 0),
      ('${named(1)}', 'dataProviders/p/eventGroups/b', '2026-07-28', 200000000, 0, 0),
      ('${named(2)}', 'dataProviders/p/eventGroups/b', '2026-07-28', 300000000, 0, 7),
      ('${named(2)}', 'dataProviders/p/eventGroups/b', '2026-07-29', 300000000, 0, 7);
    INSERT INTO totals VALUES
      ('dataProviders/p/eventGroups/a', '2026-07-28', 100000000, 0, 0),
      ('dataProviders/p/eventGroups/b', '2026-07-28', 500000000, 0, 7),
      ('dataProviders/p/eventGroups/b', '2026-07-29', 300000000, 0, 7);`;

  beforeEach(() => {
    const database = new DatabaseSync(path);
    database.exec(VERSION_1);
    database.close();
  });

  it('keeps its responses, and its charges count against every reference on their day', () => {
    expect(() => readLedger(path)).toThrow('start its agent once');
    ledger = openLedger(path, BUDGET);
    expect([1, 2, 3].map((id) => ledger.response(named(id)))).toEqual([
      result(1),
      result(2),
      { refusal: { justification: 'SPEC_INVALID', message: 'no such group' } },
    ]);
    expect(ledger.spending().map(({ reference, day, spent }) => [reference, day, spent.epsilon])).toEqual([
      ['', '2026-07-28', 0.6],
      ['', '2026-07-29', 0.3],
    ]);
    for (const [id, reference] of ['spring', 'summer', 'autumn'].entries()) {
      const charge = (epsilon: number) => [{ reference, day: '2026-07-28', cost: costInUnits({ epsilon }) }];
      expect(() => ledger.begin(named(10 + id), charge(0.5))).toThrow('0.4 of its budget is left');
      ledger.begin(named(10 + id), charge(0.4));
    }
    expect(ledger.audit()).toEqual([]);
    ledger.close();
    ledger = openLedger(path, BUDGET);
    expect(ledger.spending()).toHaveLength(5);
  });

  it('is unchanged if its update fails', () => {
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE totals_1 (x)');
    database.close();
    expect(() => openLedger(path, BUDGET)).toThrow('totals_1');
    const again = new DatabaseSync(path);
    expect(again.prepare('SELECT count(*) AS n FROM answers JOIN charges USING (requisition)').get()!.n).toBe(
      4,
    );
    again.exec('DROP TABLE totals_1');
    again.close();
    ledger = openLedger(path, BUDGET);
    expect(ledger.spending()).toHaveLength(2);
  });
});

describe('a ledger of schema 2', () => {
  /** A ledger as version 2 wrote it: a charged result and a refusal. */
  const VERSION_2 = `
    CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE responses (
      requisition TEXT PRIMARY KEY, responded_at TEXT NOT NULL, certificate TEXT, nonce TEXT, type_url TEXT,
      ciphertext BLOB, justification TEXT, message TEXT,
      CHECK (CASE WHEN justification IS NULL
        THEN certificate IS NOT NULL AND nonce IS NOT NULL AND type_url IS NOT NULL AND ciphertext IS NOT NULL
        ELSE ciphertext IS NULL END)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE attempts (requisition TEXT PRIMARY KEY, count INTEGER NOT NULL CHECK (count >= 0))
      STRICT, WITHOUT ROWID;
    CREATE TABLE charges (
      requisition TEXT NOT NULL REFERENCES attempts, reference TEXT NOT NULL, day TEXT NOT NULL,
      epsilon INTEGER NOT NULL CHECK (epsilon >= 0), delta INTEGER NOT NULL CHECK (delta >= 0),
      rho INTEGER NOT NULL CHECK (rho >= 0), PRIMARY KEY (requisition, reference, day)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE totals (
      reference TEXT NOT NULL, day TEXT NOT NULL, epsilon INTEGER NOT NULL, delta INTEGER NOT NULL,
      rho INTEGER NOT NULL, PRIMARY KEY (reference, day)
    ) STRICT, WITHOUT ROWID;
    PRAGMA user_version = 2;
    INSERT INTO settings VALUES ('provider', 'dataProviders/p');
    INSERT INTO responses VALUES
      ('${named(1)}', '2026-07-30T00:00:00Z', 'dataProviders/p/certificates/c', '18446744073709551615',
        'type.googleapis.com/x', x'0100ff', NULL, NULL),
      ('${named(3)}', '2026-07-30T00:00:02Z', NULL, NULL, NULL, NULL, 'SPEC_INVALID', 'no such group');
    INSERT INTO attempts VALUES ('${named(1)}', 1);
    INSERT INTO charges VALUES ('${named(1)}', 'spring', '2026-07-28', 600000000, 0, 0);
    INSERT INTO totals VALUES ('spring', '2026-07-28', 600000000, 0, 0);`;

  it('keeps its responses and charges, and accepts uploads and rejections after the update', () => {
    const database = new DatabaseSync(path);
    database.exec(VERSION_2);
    database.close();
    ledger = openLedger(path, BUDGET);
    expect([1, 3].map((id) => ledger.response(named(id)))).toEqual([
      result(1),
      { refusal: { justification: 'SPEC_INVALID', message: 'no such group' } },
    ]);
    expect(ledger.spending()).toEqual([
      { reference: 'spring', day: '2026-07-28', spent: { epsilon: 0.6, delta: 0, rho: 0 } },
    ]);
    const upload = { duchy: 'duchies/alpha', fulfillment: '{}' };
    expect(() => ledger.commit(named(4), { upload })).toThrow('was not charged');
    ledger.begin(named(4), []);
    expect(ledger.commit(named(4), { upload })).toEqual({ upload });
    ledger.close();
    ledger = openLedger(path, BUDGET);
    expect(ledger.response(named(4))).toEqual({ upload });
    expect(() => ledger.begin(named(4), [])).toThrow('is not computed again');
    const rejection = { count: 1, countedAt: Date.UTC(2026, 6, 30), why: 'no' };
    ledger.rejections.set(named(4), rejection);
    expect(ledger.rejections.get(named(4))).toEqual(rejection);
    expect(ledger.audit()).toEqual([]);
  });
});

describe('a ledger of schema 6', () => {
  /**
   * A ledger as version 6 wrote it, with two charged requisitions. The first one has a result and a row in `questions`.
   * The second one was charged in schema 1, so its charge has no reference.
   */
  const VERSION_6 = `
    CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE responses (
      requisition TEXT PRIMARY KEY, responded_at TEXT NOT NULL, certificate TEXT, nonce TEXT, type_url TEXT,
      ciphertext BLOB, duchy TEXT, fulfillment TEXT, justification TEXT, message TEXT,
      CHECK ((ciphertext IS NOT NULL) + (fulfillment IS NOT NULL) + (justification IS NOT NULL) = 1),
      CHECK (ciphertext IS NULL OR (certificate IS NOT NULL AND nonce IS NOT NULL AND type_url IS NOT NULL)),
      CHECK (fulfillment IS NULL OR duchy IS NOT NULL)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE attempts (requisition TEXT PRIMARY KEY, count INTEGER NOT NULL CHECK (count >= 0))
      STRICT, WITHOUT ROWID;
    CREATE TABLE charges (
      requisition TEXT NOT NULL REFERENCES attempts, reference TEXT NOT NULL, day TEXT NOT NULL,
      epsilon INTEGER NOT NULL CHECK (epsilon >= 0), delta INTEGER NOT NULL CHECK (delta >= 0),
      rho INTEGER NOT NULL CHECK (rho >= 0), PRIMARY KEY (requisition, reference, day)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE totals (
      reference TEXT NOT NULL, day TEXT NOT NULL, epsilon INTEGER NOT NULL, delta INTEGER NOT NULL,
      rho INTEGER NOT NULL, PRIMARY KEY (reference, day)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE rejections (
      requisition TEXT PRIMARY KEY REFERENCES responses, count INTEGER NOT NULL CHECK (count > 0),
      counted_at TEXT NOT NULL, why TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE confirmed_references (reference TEXT PRIMARY KEY, confirmed_at TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE held (
      requisition TEXT PRIMARY KEY, measurement_consumer TEXT NOT NULL, reference_list TEXT NOT NULL,
      since TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE questions (requisition TEXT PRIMARY KEY, measurement TEXT NOT NULL, asked_at TEXT NOT NULL)
      STRICT, WITHOUT ROWID;
    PRAGMA user_version = 6;
    INSERT INTO settings VALUES ('provider', 'dataProviders/p');
    INSERT INTO responses (requisition, responded_at, certificate, nonce, type_url, ciphertext) VALUES
      ('${named(1)}', '2026-07-30T00:00:00Z', 'dataProviders/p/certificates/c', '18446744073709551615',
        'type.googleapis.com/x', x'0100ff');
    INSERT INTO attempts VALUES ('${named(1)}', 1), ('${named(2)}', 1);
    INSERT INTO charges VALUES
      ('${named(1)}', 'spring', '2026-07-28', 500000000, 0, 3), ('${named(2)}', '', '2026-07-28', 200000000, 5, 0);
    INSERT INTO totals VALUES ('spring', '2026-07-28', 500000000, 0, 3), ('', '2026-07-28', 200000000, 5, 0);
    INSERT INTO questions VALUES
      ('${named(1)}', 'measurementConsumers/m/measurements/1', '2026-07-30T00:00:00Z');`;
  const SLICE = '{"vid":[["1","9"]]}';
  const charge = (epsilon: number) => [
    { reference: 'spring', day: '2026-07-28', slice: SLICE, cost: costInUnits({ epsilon }) },
  ];

  it('loses no charge: old charges count for the people of every slice', () => {
    const database = new DatabaseSync(path);
    database.exec(VERSION_6);
    database.close();
    expect(() => readLedger(path)).toThrow('start its agent once');
    ledger = openLedger(path, BUDGET);
    expect(ledger.spending()).toEqual([
      { reference: '', day: '2026-07-28', spent: { epsilon: 0.2, delta: 5e-18, rho: 0 } },
      { reference: 'spring', day: '2026-07-28', spent: { epsilon: 0.5, delta: 0, rho: 3e-12 } },
    ]);
    expect(ledger.response(named(1))).toEqual(result(1));
    expect(ledger.audit()).toEqual([]);
    expect(() => ledger.begin(named(3), charge(0.4))).toThrow('0.3 of its budget is left');
    ledger.begin(named(3), charge(0.3));
    ledger.close();
    ledger = openLedger(path, BUDGET);
    expect(ledger.spending()[1]!.spent.epsilon).toBe(0.8);
    expect(() => ledger.begin(named(4), charge(0.001))).toThrow('0 of its budget is left');
    // Each person has a separate budget, so other people can still be charged.
    const others = charge(0.3).map((each) => ({ ...each, slice: '{"vid":[["10","10"]]}' }));
    ledger.begin(named(5), others);
    expect(ledger.spending()[1]!.spent.epsilon).toBe(0.8);
    expect(ledger.audit()).toEqual([]);
    const reader = readLedger(path);
    expect(reader.budget().consumers.map(({ most }) => most.epsilon)).toEqual([0.3, 0.5]);
    expect(reader.budget().ranges[1]!.left!.epsilon).toBe(0);
    reader.close();
  });
});
