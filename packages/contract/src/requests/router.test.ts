import { describe, expect, it } from 'vitest';
import { ExchangeError } from '../errors/errors.ts';
import type { Route } from '../routes/route.ts';
import { API_PREFIX, ROUTES } from '../routes.ts';
import { formatPath, matchRoute } from './router.ts';

const outcome = (method: string, path: string) => {
  try {
    return matchRoute(method, path).route.operation;
  } catch (error) {
    return error instanceof ExchangeError ? error.reason : `bug: ${error}`;
  }
};

const M = '/v2alpha/measurementConsumers/a/measurements';

describe('matchRoute', () => {
  it('returns every route for its own path', () => {
    for (const route of ROUTES as readonly Route[]) {
      const params = Object.fromEntries(
        [...route.path.matchAll(/\{(\w+)\}/g)].map(([, key]) => [key, `id-${key}`]),
      );
      const match = matchRoute(route.method, formatPath(route, params));
      expect(match).toEqual({ route, params });
    }
  });

  it('distinguishes a custom verb from an ID, and rejects an unknown verb', () => {
    expect(outcome('POST', `${M}/b:cancel`)).toBe('cancelMeasurement');
    expect(outcome('POST', `${M}:batchGet`)).toBe('batchGetMeasurements');
    for (const path of [
      `${M}/b:cance`,
      `${M}/b:cancel:`,
      `${M}/b:CANCEL`,
      `${M}/b:`,
      `${M}:cancel`,
      `${M}/b:cancel/`,
      `${M}/b:undefined`,
    ]) {
      expect(outcome('POST', path)).toBe('ROUTE_NOT_FOUND');
    }
    expect(outcome('POST', `${M}/b:c:cancel`)).toBe('MALFORMED_NAME');
    expect(outcome('POST', `${M}/:cancel`)).toBe('MALFORMED_NAME');
  });

  it('does not treat an encoded character as a separator, and rejects an invalid ID', () => {
    expect(outcome('POST', `${M}/b%3Acancel`)).toBe('METHOD_NOT_ALLOWED');
    expect(outcome('GET', `${M}/b%3Acancel`)).toBe('MALFORMED_NAME');
    expect(outcome('GET', `/v2alpha/measurementConsumers/a%2Fmeasurements/b`)).toBe('ROUTE_NOT_FOUND');
    expect(outcome('GET', `/v2alpha/measurementConsumers%2Fa/measurements`)).toBe('ROUTE_NOT_FOUND');
    for (const id of [
      'a%2Fb',
      'a%00',
      '%2e%2e',
      '..',
      '.',
      'a%252Fb',
      '%zz',
      '%',
      '%c3%28',
      '',
      'a b',
      'a'.repeat(64),
    ]) {
      expect(outcome('GET', `${M}/${id}`)).toBe('MALFORMED_NAME');
    }
    expect(outcome('GET', `/v2alpha/measurementConsumer%73/a/measurements/b`)).toBe('ROUTE_NOT_FOUND');
  });

  it('decodes an ID once', () => {
    expect(matchRoute('GET', `${M}/%62_%2D9`).params.measurement).toBe('b_-9');
  });

  it('rejects with 405 and the allowed methods, or with 404 for an unknown path', () => {
    expect(outcome('DELETE', `${M}/b`)).toBe('METHOD_NOT_ALLOWED');
    try {
      matchRoute('DELETE', M);
    } catch (error) {
      expect((error as ExchangeError).metadata.allow).toBe('POST, GET');
      expect((error as ExchangeError).httpStatus).toBe(405);
    }
    for (const path of [
      API_PREFIX,
      `${API_PREFIX}/`,
      `${API_PREFIX}//`,
      `${M}/b/c/d`,
      '/v2alphax/whoami',
      '/v2alphb/whoami',
    ]) {
      expect(outcome('GET', path)).toBe('ROUTE_NOT_FOUND');
    }
  });
});
