import { afterEach, expect, it, vi } from 'vitest';
import { explain } from './output.ts';

afterEach(() => vi.unstubAllEnvs());

const failure = (members: object) => Object.assign(new Error('raw'), members);

it.each([
  [
    { code: 'EACCES', syscall: 'listen', address: '0.0.0.0', port: 80 },
    /^Port 80 .*--port or PORT, from 1024 on\.$/,
  ],
  [
    { code: 'EADDRNOTAVAIL', syscall: 'listen', address: '192.0.2.1' },
    /^192\.0\.2\.1 is not .*: set HOST to one/,
  ],
  [
    { code: 'EROFS', syscall: 'mkdir', path: '/keys' },
    /^\/keys cannot be created \(EROFS\): .* read-only: name/,
  ],
  [
    { code: 'EACCES', syscall: 'open', path: '/x' },
    /^\/x cannot be opened \(EACCES\): .*permissions, or name another/,
  ],
  [
    { code: 'ENOSPC', syscall: 'write', path: '/x' },
    /^\/x cannot be used \(ENOSPC\): the disk is full: free/,
  ],
  [
    { code: '28P01', severity: 'FATAL' },
    /^PostgreSQL says: raw \(28P01\)\. What to do: correct the user and the pass/,
  ],
  [{ code: '42501', severity: 'ERROR' }, /DATABASE_OWNER_URL\)\.$/],
  [{ code: '57P03', severity: 'FATAL' }, /try again in a moment\.$/],
  [
    { message: 'SASL: client password must be a string' },
    /asks for a password.*postgres:\/\/user:password@host/,
  ],
  [{ message: 'The server does not support SSL connections' }, /remove sslmode from/],
])('explain returns the cause and the remedy for %j', (members, sentence) => {
  expect(explain(failure(members))).toMatch(sentence);
});

it('explain reports that a host with several addresses does not respond, and names MEX_DATA_DIR for its files', () => {
  const refused = failure({ code: 'ECONNREFUSED', syscall: 'connect', address: '::1', port: 5432 });
  expect(explain(new AggregateError([refused]))).toMatch(
    /^PostgreSQL does not respond at ::1:5432 \(ECONNREFUSED\)/,
  );
  vi.stubEnv('MEX_DATA_DIR', '/data/mex');
  const readOnly = failure({ code: 'EROFS', syscall: 'mkdir', path: '/data/mex/pg' });
  expect(explain(readOnly)).toMatch(/MEX_DATA_DIR names the data directory\)\.$/);
});

it('explain returns the message of any other error unchanged', () => {
  for (const members of [
    {},
    { code: 'E' },
    { code: 'XX000', severity: 'ERROR' },
    { code: 'EIO', syscall: 'read' },
  ]) {
    expect(explain(failure(members))).toBe('raw');
  }
});
