import type { EventGroup } from '@measurement-exchange/contract';
import { readDefinition } from '@measurement-exchange/reports';
import { describe, expect, it } from 'vitest';
import { DEFAULTS, definitionOf, type ReportForm, segmentsOf } from './definition.ts';

const group = (publisher: string, reference: string) =>
  ({
    name: `measurementConsumers/acme/eventGroups/${publisher}-${reference}`,
    dataProvider: `dataProviders/${publisher}`,
    eventGroupReferenceId: reference,
  }) as EventGroup;

const PICKED = [group('northlight', 'video'), group('northlight', 'display'), group('harbor-news', 'video')];
const days = { from: '2026-10-01', until: '2026-10-28' };

function defined(form: Partial<ReportForm> = {}, picked = PICKED) {
  const whole = { ...DEFAULTS, ...form };
  return definitionOf(whole, { segments: segmentsOf(whole, picked), days, title: 'Autumn' });
}

describe('a report form', () => {
  it('becomes a definition without problems', () => {
    for (const picked of [PICKED, PICKED.slice(0, 2), PICKED.slice(0, 1)]) {
      expect(readDefinition(defined({}, picked)).problems).toBeUndefined();
      expect(readDefinition(defined({ segmentsBy: 'eventGroup' }, picked)).problems).toBeUndefined();
      const less = {
        hasOverlap: false,
        overTime: 'none',
        hasFrequency: false,
        hasImpressions: false,
      } as const;
      expect(readDefinition(defined(less, picked)).problems).toBeUndefined();
    }
  });

  it('has one segment for each publisher or event group, with names that sets can use', () => {
    expect(Object.keys(defined().segments)).toEqual(['northlight', 'harbor_news']);
    expect(defined().segments.northlight!.eventGroups).toEqual([
      'dataProviders/northlight/eventGroups/northlight-video',
      'dataProviders/northlight/eventGroups/northlight-display',
    ]);
    expect(Object.keys(defined({ segmentsBy: 'eventGroup' }).segments)).toEqual([
      'northlight_video',
      'northlight_display',
      'harbor_news_video',
    ]);
    const hostile = [group('9 <b>', 'x'), group('9 "b', 'x'), group('all', 'x')];
    expect(Object.keys(defined({}, hostile).segments)).toEqual(['s_9_b', 's_9_b_2', 'all_2']);
  });

  it('has an interval that includes the last day', () => {
    expect(defined().interval).toEqual({ start: '2026-10-01', end: '2026-10-29', timeZone: 'UTC' });
  });

  it('asks for the union and the intersection of all segments', () => {
    const { sets, figures } = defined();
    expect(sets).toEqual({ all: 'northlight | harbor_news', inAll: 'northlight & harbor_news' });
    expect(figures[1]!.of).toEqual(['northlight', 'harbor_news', 'inAll']);
  });

  it('uses renamed segments in sets, and includes custom sets', () => {
    const sets = [
      { id: 1, name: 'only', expression: 'tv - harbor_news' },
      { id: 2, name: '', expression: '' },
    ];
    const definition = defined({ names: { northlight: 'tv' }, sets });
    expect(definition.sets).toMatchObject({ all: 'tv | harbor_news', only: 'tv - harbor_news' });
    expect(definition.figures[1]!.of).toContain('only');
    expect(readDefinition(definition).problems).toBeUndefined();
  });

  it('reports problems with the field that they belong to', () => {
    const sets = [{ id: 1, name: 'only', expression: 'tv - radio' }];
    const { problems } = readDefinition(defined({ names: { northlight: 'tv' }, sets }));
    expect(problems![0]!.field).toBe('sets[only]');
    expect(readDefinition(defined({ names: { northlight: '1st' } })).problems![0]!.field).toBe(
      'segments[1st]',
    );
  });

  it('applies attributes, filter, budget and precision to the definition', () => {
    const definition = defined({ groupBy: ['age', 'sex'], filter: ' device == "tv" ', budgetShare: 0.05 });
    expect(definition.groups).toEqual({ people: { by: ['age', 'sex'] } });
    expect(definition.figures.at(-1)).toEqual({ metric: 'reach', of: ['all'], groups: 'people' });
    expect(Object.values(definition.segments).map(({ filter }) => filter)).toEqual([
      'device == "tv"',
      'device == "tv"',
    ]);
    expect(definition.budget.rho).toBe(0.05);
    expect(defined({ precision: 2 }).figures[0]!.precision).toBe('2 %');
  });
});
