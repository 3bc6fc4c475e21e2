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
