import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { costInUnits, fromUnits, type PrivacyAmount } from './ledger/amounts.ts';
import {
  type Charge,
  InsufficientBudget,
  type Ledger,
  openLedger,
  type RequisitionResponse,
  readLedger,
} from './ledger.ts';

const BUDGET = { epsilon: 1, delta: 1e-6, rho: 0.5 };
const GROUP = 'dataProviders/p/eventGroups/spring';

let directory: string;
let path: string;
let ledger: Ledger;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mex-ledger-'));
  path = join(directory, 'ledger.sqlite');
  ledger = openLedger(path, BUDGET);
});
afterEach(() => {
  ledger.close();
  rmSync(directory, { recursive: true });
});

const named = (id: string | number) => `dataProviders/p/requisitions/r${id}`;
const charge = (cost: Partial<PrivacyAmount>, day = '2026-07-28', eventGroup = GROUP): Charge => ({
  eventGroup,
  day,
  cost: costInUnits(cost),
});
const result = (seed: number): RequisitionResponse => ({
  encryptedResult: { ciphertext: Uint8Array.of(seed, 0, 255), typeUrl: 'type.googleapis.com/x' },
  nonce: 2n ** 64n - BigInt(seed),
  certificate: 'dataProviders/p/certificates/c',
});
const REFUSAL: RequisitionResponse = { refusal: { justification: 'SPEC_INVALID', message: 'no such group' } };
const spentOn = (day = '2026-07-28') => ledger.spending().find((s) => s.day === day)?.spent;

describe('a response', () => {
  it('is stored with its charges, and comes back byte for byte after the file was closed', () => {
    ledger.commit(named(1), result(1), [charge({ epsilon: 0.25 }), charge({ epsilon: 0.25 }, '2026-07-29')]);
    ledger.commit(named(2), REFUSAL, []);
    ledger.close();
    ledger = openLedger(path, BUDGET);
    expect(ledger.response(named(1))).toEqual(result(1));
    expect(ledger.response(named(2))).toEqual(REFUSAL);
    expect(ledger.response(named(3))).toBeUndefined();
    expect(ledger.spending()).toEqual([
      { eventGroup: GROUP, day: '2026-07-28', spent: { epsilon: 0.25, delta: 0, rho: 0 } },
      { eventGroup: GROUP, day: '2026-07-29', spent: { epsilon: 0.25, delta: 0, rho: 0 } },
    ]);
    expect(ledger.audit()).toEqual([]);
  });

  it('is the first one, however often another is offered, and is charged once', () => {
    expect(ledger.commit(named(1), result(1), [charge({ rho: 0.1 })])).toEqual(result(1));
    expect(ledger.commit(named(1), result(2), [charge({ rho: 0.1 })])).toEqual(result(1));
    expect(ledger.commit(named(1), REFUSAL, [])).toEqual(result(1));
    expect(spentOn()).toEqual({ epsilon: 0, delta: 0, rho: 0.1 });
  });

  it('is not stored when one of its charges cannot be written', () => {
    const other = new DatabaseSync(path);
    other.exec(`CREATE TRIGGER full BEFORE INSERT ON charges WHEN NEW.day = '2026-07-29'
      BEGIN SELECT RAISE(ABORT, 'disk full'); END`);
    const charges = [charge({ epsilon: 0.25 }), charge({ epsilon: 0.25 }, '2026-07-29')];
    expect(() => ledger.commit(named(1), result(1), charges)).toThrow('disk full');
    expect(ledger.response(named(1))).toBeUndefined();
    expect(ledger.spending()).toEqual([]);
    other.exec('DROP TRIGGER full');
    other.close();
    expect(ledger.commit(named(1), result(2), charges)).toEqual(result(2));
  });

  it('of another provider is rejected', () => {
    ledger.commit(named(1), REFUSAL, []);
    expect(() => ledger.commit('dataProviders/q/requisitions/r1', REFUSAL, [])).toThrow(
      'This ledger belongs to dataProviders/p: use another file for dataProviders/q.',
    );
  });
});

describe('the budget', () => {
  it('can be spent to the last unit and not beyond, and names what is short', () => {
    for (let i = 0; i < 10; i++) ledger.commit(named(i), result(i), [charge({ epsilon: 0.1 })]);
    expect(spentOn()).toEqual({ epsilon: 1, delta: 0, rho: 0 });
    const over = () => ledger.commit(named(10), result(10), [charge({ epsilon: 1e-12 })]);
    expect(over).toThrow(InsufficientBudget);
    expect(over).toThrow(`${GROUP} on 2026-07-28: this costs epsilon 1e-9, and 0 of its budget is left.`);
    expect(ledger.response(named(10))).toBeUndefined();
  });

  it('that is insufficient on one of many days is charged on none of them', () => {
    ledger.commit(named(1), result(1), [charge({ rho: 0.4 }, '2026-07-03')]);
    const days = ['2026-07-01', '2026-07-02', '2026-07-03', '2026-07-04'];
    const charges = days.map((day) => charge({ rho: 0.2 }, day));
    expect(() => ledger.check(charges)).toThrow(InsufficientBudget);
    expect(() => ledger.commit(named(2), result(2), charges)).toThrow('2026-07-03');
    expect(ledger.spending()).toHaveLength(1);
    expect(ledger.response(named(2))).toBeUndefined();
    expect(ledger.audit()).toEqual([]);
  });

  it('of each measure is its own, and each event group and day has one', () => {
    ledger.commit(named(1), result(1), [charge({ epsilon: 1 })]);
    ledger.commit(named(2), result(2), [charge({ rho: 0.5 })]);
    ledger.commit(named(3), result(3), [charge({ delta: 1e-6 })]);
    ledger.commit(named(4), result(4), [charge({ epsilon: 1 }, '2026-07-29')]);
    ledger.commit(named(5), result(5), [charge({ epsilon: 1 }, '2026-07-28', `${GROUP}2`)]);
    for (const cost of [{ epsilon: 1e-9 }, { rho: 1e-12 }, { delta: 1e-18 }]) {
      expect(() => ledger.commit(named(6), result(6), [charge(cost)])).toThrow(InsufficientBudget);
    }
  });

  it('that was lowered below what is spent accepts no more charges, and has 0 left', () => {
    ledger.commit(named(1), result(1), [charge({ rho: 0.4 })]);
    ledger.close();
    ledger = openLedger(path, { ...BUDGET, rho: 0.1 });
    expect(() => ledger.commit(named(2), result(2), [charge({ rho: 0.01 })])).toThrow(
      '0 of its budget is left',
    );
    ledger.commit(named(3), result(3), [charge({ epsilon: 0.5 })]);
  });

  it('rejects a charge that does not fit 64 bits', () => {
    for (const epsilon of [1e10, 1e300, Number.MAX_VALUE]) {
      expect(() => ledger.commit(named(1), result(1), [charge({ epsilon })])).toThrow(InsufficientBudget);
    }
    expect(() => charge({ epsilon: Number.POSITIVE_INFINITY })).toThrow(RangeError);
    expect(() => charge({ epsilon: -1 })).toThrow(RangeError);
  });

  it.each([
    { ...BUDGET, epsilon: Number.NaN },
    { ...BUDGET, delta: -1 },
    { ...BUDGET, rho: Number.POSITIVE_INFINITY },
  ])('is rejected when it is %o', (budget) => {
    expect(() => openLedger(join(directory, 'other.sqlite'), budget)).toThrow('must be a number from 0 to');
  });
});

describe('amounts', () => {
  it('are the decimal text that was written, rounded up to the unit, so that sums are exact', () => {
    expect(0.1 + 0.2).not.toBe(0.3);
    expect(costInUnits({ epsilon: 0.1 }).epsilon + costInUnits({ epsilon: 0.2 }).epsilon).toBe(
      costInUnits({ epsilon: 0.3 }).epsilon,
    );
    expect(costInUnits({ epsilon: 1.0000000001, delta: 1.5e-18, rho: 2e-13 })).toEqual({
      epsilon: 1_000_000_001n,
      delta: 2n,
      rho: 1n,
    });
    expect(costInUnits({ delta: 1e-9, rho: 0.016558 })).toEqual({
      epsilon: 0n,
      delta: 10n ** 9n,
      rho: 16_558_000_000n,
    });
    expect(fromUnits(costInUnits({ epsilon: 0.3, delta: 1e-9, rho: 12.5 }))).toEqual({
      epsilon: 0.3,
      delta: 1e-9,
      rho: 12.5,
    });
  });
});

describe('the file', () => {
  it('is readable by its owner only, as are the files that SQLite creates beside it', () => {
    ledger.commit(named(1), result(1), []);
    for (const suffix of ['', '-wal', '-shm', '.lock']) {
      expect(statSync(`${path}${suffix}`).mode & 0o777).toBe(0o600);
    }
  });

  it('is locked against a second agent, in this process or another, until the first is gone', () => {
    expect(() => openLedger(path, BUDGET)).toThrow(`Another agent works on ${path}.`);
    const module = fileURLToPath(new URL('ledger.ts', import.meta.url));
    const script = `import { openLedger } from ${JSON.stringify(module)};
      try { openLedger(${JSON.stringify(path)}, ${JSON.stringify(BUDGET)}); console.log('opened'); }
      catch (error) { console.log(error.message); }`;
    const other = () =>
      spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(other().stdout).toContain(`Another agent works on ${path}.`);
    ledger.close();
    expect(other()).toMatchObject({ stdout: 'opened\n', stderr: '' });
    ledger = openLedger(path, BUDGET);
  });

  it('can be read while an agent uses it, and afterwards', () => {
    ledger.commit(named(1), result(1), [charge({ epsilon: 0.5 })]);
    const look = () => {
      const view = readLedger(path);
      try {
        return [view.spending().length, view.audit()];
      } finally {
        view.close();
      }
    };
    expect(look()).toEqual([1, []]);
    ledger.close();
    expect(look()).toEqual([1, []]);
    ledger = openLedger(path, BUDGET);
  });

  it('of a later version is rejected, and its lock released', () => {
    ledger.close();
    const database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 99');
    database.close();
    expect(() => openLedger(path, BUDGET)).toThrow(/has schema 99, and this version knows 1 only/);
    expect(() => readLedger(path)).toThrow(/schema 99/);
    const reset = new DatabaseSync(path);
    reset.exec('PRAGMA user_version = 1');
    reset.close();
    // This would fail if the lock were still held.
    ledger = openLedger(path, BUDGET);
  });

  it('that is not a ledger, or in a missing folder, is rejected', () => {
    const text = join(directory, 'notes.txt');
    writeFileSync(text, 'not a database, but long enough to look like one to a hasty reader'.repeat(20));
    expect(() => openLedger(text, BUDGET)).toThrow('file is not a database');
    expect(() => openLedger(join(directory, 'absent', 'l.sqlite'), BUDGET)).toThrow(
      /cannot be written \(ENOENT\)/,
    );
  });

  it('that was tampered with does not pass the audit', () => {
    ledger.commit(named(1), result(1), [charge({ epsilon: 0.5 })]);
    ledger.close();
    const database = new DatabaseSync(path);
    database.exec('UPDATE totals SET epsilon = epsilon - 1');
    database.close();
    ledger = openLedger(path, BUDGET);
    expect(ledger.audit()).toEqual([`${GROUP} 2026-07-28: the total is not the sum of its charges`]);
  });

  it('loses nothing that was committed when the process is killed at once', () => {
    ledger.close();
    const module = fileURLToPath(new URL('ledger.ts', import.meta.url));
    const script = `import { openLedger } from ${JSON.stringify(module)};
      const ledger = openLedger(${JSON.stringify(path)}, ${JSON.stringify(BUDGET)});
      const cost = { epsilon: 1n, delta: 0n, rho: 0n };
      for (let i = 0; ; i++) {
        if (i === 50) process.kill(process.pid, 'SIGKILL');
        const charges = [{ eventGroup: 'g', day: '2026-07-28', cost }];
        ledger.commit('dataProviders/p/requisitions/r' + i, { refusal: undefined, nonce: 1n, certificate: 'c',
          encryptedResult: { ciphertext: new Uint8Array(500), typeUrl: 't' } }, charges);
      }`;
    const killed = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(killed.signal).toBe('SIGKILL');
    ledger = openLedger(path, BUDGET);
    expect(ledger.response(named(49))).toBeDefined();
    expect(spentOn()).toEqual({ epsilon: 50e-9, delta: 0, rho: 0 });
    expect(ledger.audit()).toEqual([]);
  });
});
