import { describe, expect, it } from 'vitest';
import { EventsUnavailable, QueryFailed } from '../errors.ts';
import { translate } from './errors.ts';

const ofServer = (code: string) =>
  Object.assign(new Error('vid 4711 of "reader"'), { code, severity: 'ERROR' });

describe('an error of the server', () => {
  it.each([
    '08006',
    '28P01',
    '3D000',
    '40001',
    '42501',
    '42P01',
    '42703',
    '53100',
    '53300',
    '55P03',
    '57P01',
    '57014',
    '58030',
    'XX001',
    '22003',
    '25P03',
  ])('%s becomes EventsUnavailable, not QueryFailed', (code) => {
    const error = translate(ofServer(code));
    expect(error).toBeInstanceOf(EventsUnavailable);
    expect(error).not.toBeInstanceOf(QueryFailed);
  });

  it.each(['53200', '53400', '54001', '54023', '42601', '0A000', 'XX000'])(
    '%s becomes QueryFailed',
    (code) => {
      expect(translate(ofServer(code))).toBeInstanceOf(QueryFailed);
    },
  );

  it('is reported without its text and without a cause', () => {
    for (const code of ['22003', '54001', '57P01', '28P01']) {
      const { message, cause } = translate(ofServer(code));
      expect(message).not.toMatch(/4711|reader/);
      expect(cause).toBeUndefined();
    }
  });
});

describe('an error of the connection', () => {
  it.each([
    [
      Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
      'nothing listens at its address: start it, or correct events.source.url.',
    ],
    [
      new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })]),
      'nothing listens at its address',
    ],
    [
      Object.assign(new Error('x'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }),
      'its certificate is for another host: correct events.source.url.',
    ],
    [
      Object.assign(new Error('x'), { code: 'SELF_SIGNED_CERT_IN_CHAIN' }),
      'its certificate is not trusted: set events.source.caFile.',
    ],
    [Object.assign(new Error('x'), { code: 'EHOSTUNREACH' }), 'the connection failed (EHOSTUNREACH).'],
    [new Error('The server does not support SSL connections'), 'it does not speak TLS'],
    [new Error('Connection terminated unexpectedly'), 'the connection was cut'],
  ])('is reported with its reason: %s', (error, reason) => {
    const translated = translate(error);
    expect(translated.message).toContain(`PostgreSQL cannot be reached: `);
    expect(translated.message).toContain(reason);
    expect(translated).not.toBeInstanceOf(QueryFailed);
  });
});
