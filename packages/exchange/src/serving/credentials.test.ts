import { describe, expect, it } from 'vitest';
import { credentialsIn } from './credentials.ts';

describe('the Authorization header', () => {
  it.each(['Bearer abc.def-_~+/==', 'bearer abc', 'BEARER abc'])('%j contains the token', (header) => {
    expect(credentialsIn(header, '::1')).toEqual({ kind: 'bearer', token: header.slice(7), address: '::1' });
  });

  it.each([undefined, '', 'Bearer', 'Bearer ', 'Bearer  abc', ' Bearer abc', 'Basic abc', 'abc'])(
    '%j contains no token',
    (header) => {
      expect(credentialsIn(header, '::1').kind).toBe('none');
    },
  );
});

describe('credentials other than the Authorization header', () => {
  const x509Der = Uint8Array.of(1);
  it('are used only if the header is missing: the API key first, then the client certificate', () => {
    const kindOf = (...args: [string?, { apiKey?: string; x509Der?: Uint8Array }?]) =>
      credentialsIn(args[0], '::1', args[1]).kind;
    expect(kindOf('Bearer abc', { apiKey: 'k', x509Der })).toBe('bearer');
    expect(kindOf('Basic abc', { apiKey: 'k', x509Der })).toBe('none');
    expect(kindOf(undefined, { apiKey: 'k', x509Der })).toBe('apiKey');
    expect(kindOf(undefined, { x509Der })).toBe('certificate');
    expect(kindOf(undefined, {})).toBe('none');
  });
});
