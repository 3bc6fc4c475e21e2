import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { costInUnits, fromUnits, type PrivacyAmount } from '@measurement-exchange/mpc/charges';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Charge, InsufficientBudget } from './ledger/charges.ts';
import { readLedger } from './ledger/reading.ts';
import type { RequisitionResponse } from './ledger/responses.ts';
import { type Ledger, openLedger } from './ledger.ts';

const BUDGET = { epsilon: 1, delta: 1e-6, rho: 0.5 };
const SPRING = 'spring';

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
const charge = (cost: Partial<PrivacyAmount>, day = '2026-07-28', reference = SPRING): Charge => ({
  reference,
  day,
  cost: costInUnits(cost),
});
const result = (seed: number): RequisitionResponse => ({
  encryptedResult: { ciphertext: Uint8Array.of(seed, 0, 255), typeUrl: 'type.googleapis.com/x' },
  nonce: 2n ** 64n - BigInt(seed),
  certificate: 'dataProviders/p/certificates/c',
});
const REFUSAL: RequisitionResponse = { refusal: { justification: 'SPEC_INVALID', message: 'no such group' } };
/** Stores the charges of a requisition, and then the response to this requisition, as an agent does. */
const respond = (requisition: string, response: RequisitionResponse, charges: Charge[]) => {
  ledger.begin(requisition, charges);
  return ledger.commit(requisition, response);
};
const spentOn = (day = '2026-07-28') => ledger.spending().find((s) => s.day === day)?.spent;

describe('a response', () => {
  it('is stored, and is unchanged after the file is reopened', () => {
    respond(named(1), result(1), [charge({ epsilon: 0.25 }), charge({ epsilon: 0.25 }, '2026-07-29')]);
    ledger.commit(named(2), REFUSAL);
    ledger.close();
    ledger = openLedger(path, BUDGET);
    expect(ledger.response(named(1))).toEqual(result(1));
    expect(ledger.response(named(2))).toEqual(REFUSAL);
    expect(ledger.response(named(3))).toBeUndefined();
    expect(ledger.spending()).toEqual([
      { reference: SPRING, day: '2026-07-28', spent: { epsilon: 0.25, delta: 0, rho: 0 } },
      { reference: SPRING, day: '2026-07-29', spent: { epsilon: 0.25, delta: 0, rho: 0 } },
    ]);
    expect([1, 2, 3].map((id) => ledger.isCharged(named(id)))).toEqual([true, false, false]);
    expect(ledger.audit()).toEqual([]);
  });

  it('is not replaced by a later one', () => {
    ledger.begin(named(1), [charge({ rho: 0.1 })]);
    expect(ledger.commit(named(1), result(1))).toEqual(result(1));
    expect(ledger.commit(named(1), result(2))).toEqual(result(1));
    expect(ledger.commit(named(1), REFUSAL)).toEqual(result(1));
    expect(() => ledger.begin(named(1), [charge({ rho: 0.1 })])).toThrow('is not computed again');
    expect(spentOn()).toEqual({ epsilon: 0, delta: 0, rho: 0.1 });
  });

  it('with a result is rejected if nothing was charged for it', () => {
    expect(() => ledger.commit(named(1), result(1))).toThrow('was not charged');
    expect(ledger.response(named(1))).toBeUndefined();
  });

  it('of another provider is rejected', () => {
    ledger.commit(named(1), REFUSAL);
    const message = 'This ledger belongs to dataProviders/p: use another file for dataProviders/q.';
    expect(() => ledger.commit('dataProviders/q/requisitions/r1', REFUSAL)).toThrow(message);
    expect(() => ledger.begin('dataProviders/q/requisitions/r1', [])).toThrow(message);
  });
});

describe('an attempt', () => {
  it('is charged once, and counted until it ends, even after a restart', () => {
    const charges = [charge({ epsilon: 0.75 })];
    expect(ledger.begin(named(1), charges)).toBe(1);
    expect(ledger.begin(named(1), charges)).toBe(2);
    ledger.close();
    ledger = openLedger(path, BUDGET);
    expect(ledger.begin(named(1), charges)).toBe(3);
    ledger.end(named(1));
    expect(ledger.begin(named(1), charges)).toBe(3);
    expect(ledger.begin(named(2), [])).toBe(1);
    expect(spentOn()).toEqual({ epsilon: 0.75, delta: 0, rho: 0 });
    expect(ledger.audit()).toEqual([]);
  });

  it('that ends in a refusal stays charged', () => {
    expect(respond(named(1), REFUSAL, [charge({ epsilon: 0.75 })])).toEqual(REFUSAL);
    expect(ledger.isCharged(named(1))).toBe(true);
    expect(spentOn()).toEqual({ epsilon: 0.75, delta: 0, rho: 0 });
    expect(ledger.audit()).toEqual([]);
  });

  it('that costs more than the previous one, or includes other days, is charged the difference', () => {
    ledger.begin(named(1), [charge({ epsilon: 0.5 }), charge({ epsilon: 0.5 }, '2026-07-29')]);
    ledger.begin(named(1), [charge({ epsilon: 0.75, rho: 0.1 }), charge({ epsilon: 0.25 }, '2026-07-30')]);
    expect(ledger.spending().map(({ day, spent }) => [day, spent.epsilon, spent.rho])).toEqual([
      ['2026-07-28', 0.75, 0.1],
      ['2026-07-29', 0.5, 0],
      ['2026-07-30', 0.25, 0],
    ]);
    expect(() => ledger.begin(named(1), [charge({ epsilon: 1.25 })])).toThrow(InsufficientBudget);
    expect(ledger.audit()).toEqual([]);
  });

  it('is neither charged nor counted if one of its charges cannot be written', () => {
    const other = new DatabaseSync(path);
    other.exec(`CREATE TRIGGER full BEFORE INSERT ON charges WHEN NEW.day = '2026-07-29'
      BEGIN SELECT RAISE(ABORT, 'disk full'); END`);
    const charges = [charge({ epsilon: 0.25 }), charge({ epsilon: 0.25 }, '2026-07-29')];
    expect(() => ledger.begin(named(1), charges)).toThrow('disk full');
    expect(ledger.spending()).toEqual([]);
    other.exec('DROP TRIGGER full');
    other.close();
    expect(ledger.begin(named(1), charges)).toBe(1);
  });
});

describe('the budget', () => {
  it('can be spent to the last unit, and a higher charge is rejected with the reference, day and amount', () => {
    for (let i = 0; i < 10; i++) ledger.begin(named(i), [charge({ epsilon: 0.1 })]);
    expect(spentOn()).toEqual({ epsilon: 1, delta: 0, rho: 0 });
    const over = () => ledger.begin(named(10), [charge({ epsilon: 1e-12 })]);
    expect(over).toThrow(InsufficientBudget);
    expect(over).toThrow(`${SPRING} on 2026-07-28: this costs epsilon 1e-9, and 0 of its budget is left.`);
    expect(ledger.isCharged(named(10))).toBe(false);
  });

  it('that is insufficient on one of many days is charged on none of them', () => {
    ledger.begin(named(1), [charge({ rho: 0.4 }, '2026-07-03')]);
    const days = ['2026-07-01', '2026-07-02', '2026-07-03', '2026-07-04'];
    const charges = days.map((day) => charge({ rho: 0.2 }, day));
    expect(() => ledger.begin(named(2), charges)).toThrow('2026-07-03');
    expect(ledger.spending()).toHaveLength(1);
    expect(ledger.isCharged(named(2))).toBe(false);
    expect(ledger.audit()).toEqual([]);
  });

  it('is separate for epsilon, delta and rho, and for each reference and day', () => {
    ledger.begin(named(1), [charge({ epsilon: 1 })]);
    ledger.begin(named(2), [charge({ rho: 0.5 })]);
    ledger.begin(named(3), [charge({ delta: 1e-6 })]);
    ledger.begin(named(4), [charge({ epsilon: 1 }, '2026-07-29')]);
    ledger.begin(named(5), [charge({ epsilon: 1 }, '2026-07-28', `${SPRING}2`)]);
    for (const cost of [{ epsilon: 1e-9 }, { rho: 1e-12 }, { delta: 1e-18 }]) {
      expect(() => ledger.begin(named(6), [charge(cost)])).toThrow(InsufficientBudget);
    }
  });

  it('that was lowered below the spent amount has 0 left', () => {
    ledger.begin(named(1), [charge({ rho: 0.4 })]);
    ledger.close();
    ledger = openLedger(path, { ...BUDGET, rho: 0.1 });
    expect(() => ledger.begin(named(2), [charge({ rho: 0.01 })])).toThrow('0 of its budget is left');
    ledger.begin(named(3), [charge({ epsilon: 0.5 })]);
  });

  it('rejects a charge that does not fit 64 bits', () => {
    for (const epsilon of [1e10, 1e300, Number.MAX_VALUE]) {
      expect(() => ledger.begin(named(1), [charge({ epsilon })])).toThrow(InsufficientBudget);
    }
    expect(() => charge({ epsilon: Number.POSITIVE_INFINITY })).toThrow(RangeError);
    expect(() => charge({ epsilon: -1 })).toThrow(RangeError);
  });

  it.each([
    { ...BUDGET, epsilon: Number.NaN },
    { ...BUDGET, delta: -1 },
    { ...BUDGET, rho: Number.POSITIVE_INFINITY },
  ])('is rejected if it is %o', (budget) => {
    expect(() => openLedger(join(directory, 'other.sqlite'), budget)).toThrow('must be a number from 0 to');
  });
});

describe('amounts', () => {
  it('are exact decimal numbers, rounded up to the unit', () => {
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
    ledger.begin(named(1), []);
    for (const suffix of ['', '-wal', '-shm', '.lock']) {
      expect(statSync(`${path}${suffix}`).mode & 0o777).toBe(0o600);
    }
  });

  it('is locked against a second agent, in this process or another, until the first one closes it', () => {
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
    ledger.begin(named(1), [charge({ epsilon: 0.5 })]);
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
    expect(() => openLedger(path, BUDGET)).toThrow(/has schema 99, and this version knows 7 only/);
    expect(() => readLedger(path)).toThrow(/schema 99/);
    const reset = new DatabaseSync(path);
    reset.exec('PRAGMA user_version = 7');
    reset.close();
    // If the failed `openLedger` call above still held the file's lock, this call would fail.
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

  it.each([
    [
      'UPDATE totals SET epsilon = epsilon - 1',
      `${SPRING} 2026-07-28: the total is not the sum of its charges`,
    ],
    ["UPDATE attempts SET requisition = 'x'", `${named(1)}: a charge has no attempt`],
    ['DELETE FROM attempts; DELETE FROM charges; DELETE FROM totals', `${named(1)}: a result has no attempt`],
  ])('that was tampered with does not pass the audit: %s', (tamper, finding) => {
    respond(named(1), result(1), [charge({ epsilon: 0.5 })]);
    ledger.close();
    const database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
    database.exec(tamper);
    database.close();
    ledger = openLedger(path, BUDGET);
    expect(ledger.audit()).toContain(finding);
  });

  it('loses no committed data if the process is killed', () => {
    ledger.close();
    const module = fileURLToPath(new URL('ledger.ts', import.meta.url));
    const script = `import { openLedger } from ${JSON.stringify(module)};
      const ledger = openLedger(${JSON.stringify(path)}, ${JSON.stringify(BUDGET)});
      const cost = { epsilon: 1n, delta: 0n, rho: 0n };
      for (let i = 0; ; i++) {
        if (i === 50) process.kill(process.pid, 'SIGKILL');
        const requisition = 'dataProviders/p/requisitions/r' + i;
        ledger.begin(requisition, [{ reference: 'spring', day: '2026-07-28', cost }]);
        ledger.commit(requisition, { refusal: undefined, nonce: 1n, certificate: 'c',
          encryptedResult: { ciphertext: new Uint8Array(500), typeUrl: 't' } });
      }`;
    const killed = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(killed.signal).toBe('SIGKILL');
    ledger = openLedger(path, BUDGET);
    expect(ledger.response(named(49))).toBeDefined();
    expect(spentOn()).toEqual({ epsilon: 50e-9, delta: 0, rho: 0 });
    expect(ledger.audit()).toEqual([]);
  });
});

describe('a charge to a slice of people', () => {
  const slice = (start: number, end: number) => `{"vid":[["${start}","${end}"]]}`;
  const to = (people: string, epsilon: number): Charge => ({ ...charge({ epsilon }), slice: people });

  it('counts only for these people, and a charge without a slice counts for all people', () => {
    ledger.begin(named(1), [to(slice(1, 5), 0.6)]);
    ledger.begin(named(2), [to(slice(6, 9), 0.7)]);
    expect(spentOn()?.epsilon).toBe(0.7);
    expect(() => ledger.begin(named(3), [to(slice(5, 6), 0.4)])).toThrow('0.3 of its budget is left');
    ledger.begin(named(4), [to(slice(1, 5), 0.4)]);
    expect(() => ledger.begin(named(5), [charge({ epsilon: 0.1 })])).toThrow('0 of its budget is left');
    ledger.begin(named(6), [to(slice(10, 10), 1)]);
    expect(spentOn()?.epsilon).toBe(1);
    expect(ledger.audit()).toEqual([]);
  });

  it('is charged once for several attempts, even after the file is reopened', () => {
    for (let attempt = 0; attempt < 3; attempt++) {
      ledger.begin(named(1), [to(slice(1, 5), 0.6)]);
      ledger.close();
      ledger = openLedger(path, BUDGET);
    }
    expect(spentOn()?.epsilon).toBe(0.6);
    // This slice differs from the slice of the earlier attempts, so the ledger adds the charges for people who are in
    // both slices: 0.6 + 0.3.
    ledger.begin(named(1), [to(slice(4, 8), 0.3)]);
    expect(spentOn()?.epsilon).toBe(0.9);
  });

  it('stores nothing if it exceeds the budget', () => {
    const refused = () => ledger.begin(named(1), [to(slice(1, 5), 0.6), to(slice(1, 6), 0.6)]);
    expect(refused).toThrow(InsufficientBudget);
    expect(ledger.spending()).toEqual([]);
    ledger.begin(named(2), [to(slice(1, 6), 1)]);
    expect(spentOn()?.epsilon).toBe(1);
    expect(ledger.audit()).toEqual([]);
  });
});
