/** Tests `mex provider check`, `budget` and `status`, which show a provider's events and ledger. */
import { writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { openLedger } from '@measurement-exchange/sdk/provider';
import { eventsCsv } from '@measurement-exchange/testkit/providerWorld';
import { describe, expect, it } from 'vitest';
import { lines, mex, mexJson, run } from './mexInProcess.ts';
import { describeTo, path, w } from './partyWorld.ts';
import { ask, askFor, demo, stateOf, useProviderWorld } from './providerWorld.ts';

useProviderWorld();

describe('mex provider check', () => {
  const config = async (references: object) => {
    const columns = { attributes: ['age'] };
    const settings = { ledger: 'checked.ledger', events: { files: 'events.csv', columns }, references };
    await writeFile(path('checked.json'), JSON.stringify(settings));
    return ['provider', 'check', '--config', path('checked.json')];
  };
  const acme = { measurementConsumers: ['measurementConsumers/acme'] };

  it('shows references without events, and confirms them only by name', async () => {
    const check = await config({ sprng: acme, autumn: { ...acme, served: true } });
    const shown = await mex(...check, '--confirm');
    expect(shown).toMatch(/spring +5050 +3 .* nobody +not confirmed\n/);
    expect(shown).toMatch(/sprng +0 +0 +acme +not confirmed\n/);
    expect(shown).toMatch(/autumn +0 +0 +acme +declared\n/);
    expect(shown).toContain('sprng has no rows');
    expect(shown).toContain('Questions about 1 of them are held');
    expect(shown).not.toContain('Confirmed:');
    expect((await run(...check, '--confirm', 'spring')).error!.message).toContain('nobody may ask about it');

    const { references, confirmed } = await mexJson(...check, '--confirm', 'sprng');
    expect(confirmed).toEqual(['sprng']);
    const served = references.map((each: { reference: string; served: string }) => [
      each.reference,
      each.served,
    ]);
    expect(served).toEqual([
      ['spring', 'NO'],
      ['sprng', 'CONFIRMED'],
      ['autumn', 'DECLARED'],
    ]);
  });

  it('describes the events, their columns, the VIDs outside of the population, and what questions cost', async () => {
    const population = {
      subpopulations: [
        {
          vidRanges: [
            { start: 1, end: 40 },
            { start: 60, end: 200 },
          ],
        },
      ],
    };
    await writeFile(path('population.json'), JSON.stringify(population));
    await writeFile(path('partly.csv'), eventsCsv().replace(/\n\d+,/, '\n,'));
    const settings = {
      ledger: 'described.ledger',
      budget: { epsilon: 1, delta: 1e-6, rho: 0.1 },
      events: { files: 'partly.csv' },
      population: 'population.json',
    };
    await writeFile(path('described.json'), JSON.stringify(settings));
    const described = ['provider', 'check', '--config', path('described.json')];
    const shown = await mex(...described);
    expect(shown).toContain('Files 1, rows 5,050, people 99, 2026-07-01 to 2026-07-03\n');
    expect(shown).toMatch(/vid +person +BIGINT +1\n/);
    expect(shown).toMatch(/age +int +0 +\d+\n/);
    expect(shown).toContain('1 rows have no vid, and are never counted.');
    expect(shown).toMatch(
      /19 of 99 VIDs \(19\.1 %\) in the column vid are outside of the population .*population\.json/,
    );
    expect(shown).toMatch(/A reach question with epsilon 0\.1 and delta 1e-9 costs rho 0\.\d+ on each day: /);
    const { events, questions } = await mexJson(...described);
    expect(events).toMatchObject({ rows: 5050, vids: [{ people: 99, peopleOutside: 19 }] });
    expect(questions[1].cost.rho).toBeGreaterThan(questions[0].cost.rho);
  });

  it('requires events and a ledger', async () => {
    expect((await run('provider', 'check', '--events', path('events.csv'))).error!.message).toContain(
      'Say which ledger',
    );
    await writeFile(path('none.json'), JSON.stringify({ population: 'x.json' }));
    const { error } = await run('provider', 'check', '--config', path('none.json'));
    expect(error!.message).toContain('Say which events to look at');
  });

  it('is not required in development for references with events, and questions about others are held', async () => {
    const checked = await mex('provider', 'check', '--as', 'streamly', '--events', path('events.csv'));
    expect(checked).toMatch(/spring +5050 .* anybody +in development\n$/);
    expect(checked).toContain(' on each day: less than 0.1 % of its budget, about ');
    const summer = await describeTo(w.acme, w.streamly, 'summer');
    const measurement = await askFor(w.consumer, w.streamly.name, summer, 0.01);
    const answered = await ask(0.01);
    const { out } = await run(...demo, path('events.csv'), '--once', '--json');
    const types = lines(out).map(({ type }) => type);
    expect(types.filter((type) => type !== 'progress').toSorted()).toEqual([
      'fulfilled',
      'held',
      'received',
      'received',
    ]);
    expect(await stateOf(answered)).toBe('SUCCEEDED');
    expect(await stateOf(measurement)).toBe('AWAITING_REQUISITION_FULFILLMENT');
    const { heldQuestions } = await mexJson('provider', 'status', '--as', 'streamly');
    expect(heldQuestions).toMatchObject([{ references: ['summer'] }]);
    await w.acme.client.cancelMeasurement({ name: measurement.name! });
  });
});

describe('mex provider budget', () => {
  it('reports a total that is not the sum of its charges, and exits with 1', async () => {
    await ask();
    await run(...demo, path('events.csv'), '--once', '--ledger', path('spoiled.ledger'));
    const database = new DatabaseSync(path('spoiled.ledger'));
    database.exec('UPDATE totals SET epsilon = 1');
    database.close();
    const { error, out } = await run('provider', 'budget', '--ledger', path('spoiled.ledger'));
    expect(error).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining('is not the sum of its charges'),
    });
    expect(out).toContain('spring');
  });

  it('reports a missing ledger', async () => {
    expect((await run('provider', 'budget', '--ledger', path('no.ledger'))).error!.message).toContain(
      'is not there',
    );
    expect((await run('provider', 'budget')).error!.message).toContain('Say which ledger');
  });
});

describe('mex provider status', () => {
  const status = (...options: string[]) =>
    mex('provider', 'status', '--ledger', path('status.ledger'), ...options);

  it('reports that no agent runs if its next poll is overdue, but not before', async () => {
    const ledger = openLedger(path('status.ledger'), { epsilon: 1, delta: 0, rho: 0 });
    const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
    const polled = { startTime: minutesFromNow(-90), pollTime: minutesFromNow(-40) };
    const counts = { fulfilled: 0, refused: 0, closed: 0, retrying: 0, rejected: 0, deferred: 0, held: 0 };
    const work = { counts, open: 0, waiting: 0, nextRetries: [] };
    try {
      ledger.storeStatus({ ...polled, ...work, overdueTime: minutesFromNow(20) });
      expect(await status()).toContain('The agent has been running since');
      ledger.storeStatus({ ...polled, ...work, overdueTime: minutesFromNow(-2) });
      expect(await status()).toContain('No agent runs: the last one polled 40 min ago.');
    } finally {
      ledger.close();
    }
  });

  it('shows which uploads duchies reject, how often, and their last message', async () => {
    const ledger = openLedger(path('status.ledger'), { epsilon: 1, delta: 0, rho: 0 });
    try {
      expect(await status()).toContain('No requisition has a response yet.');
      const requisition = 'dataProviders/lakeside/requisitions/r1';
      ledger.begin(requisition, []);
      ledger.commit(requisition, { upload: { duchy: 'duchies/alpha', fulfillment: '{}' } });
      expect(await status()).toMatch(
        /direct results 0, uploads to duchies 1, refusals 0\.\nTIME.*\n.*\nNo question is held\.\nNo upload is rejected by/,
      );
      const countedAt = Date.parse('2026-10-01T12:00:00Z');
      ledger.rejections.set(requisition, { count: 3, countedAt, why: 'It says \u001b[2J no.' });
      const text = await status();
      expect(text).toContain(
        `${requisition}\n    rejected 3 times, last at 2026-10-01T12:00:00.000Z: It says `,
      );
      expect(text).not.toContain('\u001b[2J');
      expect(JSON.parse(await status('--json'))).toMatchObject({
        responses: { results: 0, uploads: 1, refusals: 0 },
        rejectedUploads: [
          { requisition, duchy: 'duchies/alpha', count: 3, countedAt: '2026-10-01T12:00:00.000Z' },
        ],
      });
    } finally {
      ledger.close();
    }
  });
});
