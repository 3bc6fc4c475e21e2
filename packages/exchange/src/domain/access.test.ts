import { ROUTES, type Route } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { authorize, may, OPERATOR, type Principal, parsePrincipal, partyName } from './access.ts';

const acme: Principal = { kind: 'measurementConsumer', id: 'acme', name: 'measurementConsumers/acme' };
const tv: Principal = { kind: 'dataProvider', id: 'tv', name: 'dataProviders/tv' };
const duchy: Principal = { kind: 'duchy', id: 'd', name: 'duchies/d' };

const route = (access: Route['access']) => ({ access }) as Route;

describe('the name of a principal', () => {
  it.each([acme, tv, duchy, OPERATOR])('$name is parsed as a principal', (principal) => {
    expect(parsePrincipal(principal.name)).toEqual(principal);
  });

  it.each([
    '',
    'operators',
    'operator/x',
    'measurementConsumers',
    'measurementConsumers/',
    'measurementConsumers/-',
    'dataProviders/-',
    'duchies/-',
    'dataProviders/tv/requisitions/r',
    'principals/p',
    'trustedRoots/r',
    'dataProviders/ä',
    'DataProviders/tv',
  ])('%j is not a principal', (name) => {
    expect(parsePrincipal(name)).toBeUndefined();
  });

  it('is made of the kind and the ID of a party', () => {
    expect(partyName('measurementConsumer', 'acme')).toBe('measurementConsumers/acme');
    expect(partyName('dataProvider', 'tv')).toBe('dataProviders/tv');
    expect(partyName('duchy', 'd')).toBe('duchies/d');
  });

  it('of the operator has an empty ID', () => {
    expect(OPERATOR).toEqual({ kind: 'operator', id: '', name: 'operator' });
  });
});

describe('a caller', () => {
  it('of a kind that the route does not list may not call it', () => {
    const row = route({ measurementConsumer: 'own' });
    for (const principal of [tv, duchy, OPERATOR]) {
      expect(may(principal, row, { measurementConsumer: principal.id })).toBe(false);
    }
  });

  it('may access its own resources, and no others', () => {
    const row = route({ measurementConsumer: 'own' });
    expect(may(acme, row, { measurementConsumer: 'acme' })).toBe(true);
    expect(may(acme, row, { measurementConsumer: 'acme', measurement: 'm' })).toBe(true);
    expect(may(acme, row, { measurementConsumer: 'globex' })).toBe(false);
    // A path belongs to the party that its first ID names. Later IDs do not matter.
    expect(may(acme, row, { measurementConsumer: 'globex', measurement: 'acme' })).toBe(false);
    expect(may(acme, row, { measurementConsumer: '-' })).toBe(false);
  });

  it('may access resources of any owner under `any`, but not with a wildcard', () => {
    const row = route({ operator: 'any' });
    expect(may(OPERATOR, row, { measurementConsumer: 'acme' })).toBe(true);
    expect(may(OPERATOR, row, { measurementConsumer: '-' })).toBe(false);
    expect(may(OPERATOR, row, {})).toBe(true);
  });

  it('may use the wildcard under `all`', () => {
    const row = route({ dataProvider: 'all' });
    expect(may(tv, row, { measurementConsumer: '-' })).toBe(true);
    expect(may(tv, row, { measurementConsumer: 'acme' })).toBe(true);
  });

  it('may not use a wildcard after the first ID under any rule', () => {
    for (const rule of ['own', 'any', 'all'] as const) {
      const params = { dataProvider: 'tv', requisition: '-' };
      expect(may(tv, route({ dataProvider: rule }), params)).toBe(false);
      expect(may(tv, route({ dataProvider: rule }), { ...params, requisition: 'r' })).toBe(true);
    }
  });

  it('is rejected with the same message whether or not the resource exists', () => {
    const row = ROUTES.find(({ operation }) => operation === 'cancelMeasurement')! as Route;
    const params = { measurementConsumer: 'globex', measurement: 'm' };
    expect(() => authorize(acme, row, params)).toThrow(
      expect.objectContaining({
        reason: 'PERMISSION_DENIED',
        message: 'measurementConsumers/acme may not do this here.',
        metadata: {},
      }),
    );
    expect(() => authorize(acme, row, { ...params, measurementConsumer: 'acme' })).not.toThrow();
  });
});
