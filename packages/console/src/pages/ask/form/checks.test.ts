import type { EventGroup } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { CompanionError } from '../../../companion/client.ts';
import { unrecordedOf } from '../days/unrecorded.ts';
import { blockOf, checksOf } from './checks.ts';
import { DEFAULTS } from './form.ts';
import type { Ask } from './useAsk.ts';
import { usualTimes } from './usualTimes.ts';

const NOW = new Date('2026-11-18T09:30:00Z');
const october = { startTime: '2026-10-01T00:00:00Z', endTime: '2026-10-29T00:00:00Z' };
const group = (publisher: string, dataAvailabilityInterval = october) =>
  ({
    name: `measurementConsumers/acme/eventGroups/${publisher}`,
    dataProvider: `dataProviders/${publisher}`,
    dataAvailabilityInterval,
  }) as EventGroup;
const PLAN = {
  ...{ protocol: 'honestMajorityShareShuffle', duchies: ['duchies/a', 'duchies/b', 'duchies/c'] },
  ...{ findings: [], figures: [], dataProviders: [], warnings: [] },
} as const;

/**
 * Returns a form with two publishers and a plan without problems. `changes` overrides members of the form, except that
 * `plan` overrides members of the plan, and `error` is the error of the plan.
 */
function askWith(changes: Partial<Ask> & { plan?: object; error?: Error } = {}): Ask {
  const { plan, error, ...others } = changes;
  const picked = [group('streamly'), group('chirper')];
  return {
    form: DEFAULTS,
    picked,
    publishers: picked.map((of, i) => ({
      name: of.dataProvider!,
      label: `P${i + 1}`,
      index: 0,
      groups: [of],
    })),
    days: { from: '2026-10-01', until: '2026-10-28' },
    now: NOW,
    filterProblem: undefined,
    planned: { plan: { ...PLAN, ...plan }, error: error ?? null, isCurrent: true, time: 0, retry: () => {} },
    ...others,
  } as Ask;
}
/** Removes the Unicode isolation marks around names. */
const plain = (text: string) => text.replaceAll(/[\u2068\u2069]/g, '');
const block = (ask: Ask) => {
  const reason = blockOf(ask, checksOf(ask));
  return reason && plain(reason);
};
const titles = (ask: Ask) => checksOf(ask).map(({ tone, title }) => `${tone}: ${plain(title)}`);

describe('a measurement', () => {
  it('can be sent if nothing is wrong', () => {
    expect(block(askWith())).toBeUndefined();
    expect(titles(askWith())).toEqual(['ok: Each person counts once', 'ok: Keys and certificates']);
  });

  it('needs a publisher', () => expect(block(askWith({ picked: [] }))).toBe('Pick a publisher'));

  it('cannot be sent while it is being checked', () => {
    const { planned } = askWith();
    expect(block(askWith({ planned: { ...planned, isCurrent: false } }))).toBe('Being checked');
  });

  it('is blocked by an invalid filter, a failed plan, a finding or unaccepted duchies', () => {
    expect(block(askWith({ filterProblem: { message: 'Wrong.', line: 1, column: 8 } }))).toBe(
      'Fix the filter',
    );
    const some = { message: 'Wrong.', publishers: ['dataProviders/chirper'] };
    expect(block(askWith({ filterProblem: some }))).toBe('P2 would refuse the filter');
    expect(block(askWith({ error: new Error('No.') }))).toBe('It could not be checked');
    const rejected = new CompanionError('CHECK_FAILED', 'No.');
    expect(block(askWith({ error: rejected }))).toBe('The exchange would not accept it');
    const finding = { code: 'CERTIFICATE_UNTRUSTED', field: 'f', message: 'Not trusted.', remedy: 'Ask.' };
    expect(block(askWith({ plan: { findings: [finding] } }))).toBe('Not trusted.');
    const rejection = { code: 'DUCHY_UNACCEPTED', message: 'No.', duchies: ['duchies/a'] };
    expect(block(askWith({ plan: { rejection } }))).toBe('You do not accept its duchies');
  });

  it('is not blocked by a warning, or by a finding about the protocol', () => {
    const finding = { code: 'REACH_NOT_DEDUPLICATED', field: 'f', message: 'Alone.', remedy: 'Read.' };
    const ask = askWith({ plan: { findings: [finding], duchies: [], warnings: ['Noisy.'] } });
    expect(block(ask)).toBeUndefined();
    expect(titles(ask)).toEqual(['warn: Alone.', 'warn: Noisy.', 'ok: Keys and certificates']);
    expect(titles({ ...ask, form: { ...DEFAULTS, protocol: 'direct' } })).not.toContain('warn: Alone.');
  });

  it('has a warning for publishers that have not recorded a day, grouped by the same days', () => {
    const days = { from: '2026-10-28', until: '2026-10-30' };
    expect(titles(askWith({ days }))[0]).toBe('warn: P1 and P2 have not recorded Oct 29 to Oct 30');
    expect(checksOf(askWith({ days }))[0]!.detail).toBe('Nothing is counted there on these days.');
    const [first, second] = askWith().publishers;
    const open = { ...group('a'), dataAvailabilityInterval: { startTime: '2026-10-01T00:00:00Z' } };
    const later = askWith({
      days: { from: '2026-11-17', until: '2026-11-18' },
      publishers: [{ ...first!, groups: [open] }, second!],
    });
    expect(titles(later).slice(0, 2)).toEqual([
      'warn: P1 has not recorded Nov 18',
      'warn: P2 has not recorded Nov 17 to Nov 18',
    ]);
    expect(checksOf(later)[0]!.detail).toBe('The answer may be deferred until these days are complete.');
  });

  it('can leave out unrecorded days at the end of its interval', () => {
    const { publishers } = askWith();
    const rest = (from: string, until: string) => unrecordedOf(publishers, { from, until }, NOW)[0]?.rest;
    expect(rest('2026-10-20', '2026-10-30')).toEqual({ from: '2026-10-20', until: '2026-10-28' });
    expect(rest('2026-10-29', '2026-10-30')).toBeUndefined();
    expect(rest('2026-09-29', '2026-10-05')).toBeUndefined();
  });
});

it('usualTimes returns the median duration of succeeded measurements by protocol', () => {
  const took = (seconds: number, protocolConfig = { direct: {} }) =>
    ({
      state: 'SUCCEEDED',
      protocolConfig,
      createTime: '2026-11-18T00:00:00Z',
      updateTime: new Date(Date.parse('2026-11-18T00:00:00Z') + seconds * 1000).toISOString(),
    }) as const;
  expect(usualTimes([took(30), took(1), took(2), { state: 'SUCCEEDED' }])).toEqual(
    new Map([['direct', 2000]]),
  );
});
