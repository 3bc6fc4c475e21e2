import { describe, expect, it } from 'vitest';
import { credentialsIn } from './credentials.ts';

describe('the Authorization header', () => {
  it.each(['Bearer abc.def-_~+/==', 'bearer abc', 'BEARER abc'])('%j gives the token', (header) => {
    expect(credentialsIn(header, '::1')).toEqual({ kind: 'bearer', token: header.slice(7), address: '::1' });
  });

  it.each([undefined, '', 'Bearer', 'Bearer ', 'Bearer  abc', ' Bearer abc', 'Basic abc', 'abc'])(
    '%j gives none',
    (header) => {
      expect(credentialsIn(header, '::1').kind).toBe('none');
    },
  );
});

describe('credentials beside the Authorization header', () => {
  const x509Der = Uint8Array.of(1);
  it('count only where the header is absent: the key first, then the certificate of the connection', () => {
    const kindOf = (...args: [string?, { apiKey?: string; x509Der?: Uint8Array }?]) =>
      credentialsIn(args[0], '::1', args[1]).kind;
    expect(kindOf('Bearer abc', { apiKey: 'k', x509Der })).toBe('bearer');
    expect(kindOf('Basic abc', { apiKey: 'k', x509Der })).toBe('none');
    expect(kindOf(undefined, { apiKey: 'k', x509Der })).toBe('apiKey');
    expect(kindOf(undefined, { x509Der })).toBe('certificate');
    expect(kindOf(undefined, {})).toBe('none');
  });
});
