/** Test helpers: valid settings, the problems of changed settings, and functions that define a test for each case. */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { type Config, loadConfig } from '../../src/config/config.ts';
import type { FileFacts, ProcessFacts } from '../../src/config/production/process.ts';
import { configProblems } from '../../src/config/production.ts';

export const DAY = 86_400;
export const issuer = {
  issuer: 'https://id.example.com',
  audience: 'exchange',
  jwksUri: 'https://id.example.com/jwks',
  maxTokenAgeSeconds: DAY,
};
export const sound: Partial<Config> = {
  issuers: [issuer],
  pageTokenKey: randomBytes(32).toString('base64'),
  secretsKey: randomBytes(32).toString('base64'),
  trustedProxies: [],
  databaseUrl: 'postgres://mex_app:vJ2mQ8xw@db.example.com/mex?sslmode=verify-full',
};
const FILES: Record<string, FileFacts> = {
  '/etc/mex/config.json': { mode: 0o100600, readable: true },
  '/etc/mex/open.json': { mode: 0o100640, readable: true },
  '/etc/mex/jwks.json': { mode: 0o100644, readable: true },
  '/etc/mex/cert.pem': { mode: 0o100644, readable: true },
  '/etc/mex/key.pem': { mode: 0o100640, readable: true },
  '/etc/mex/open.pem': { mode: 0o100644, readable: true },
  '/etc/mex/others.pem': { mode: 0o100600, readable: false },
  '/open/pg': { mode: 0o40750, readable: true },
  '/closed/pg': { mode: 0o40700, readable: true },
};
const ordinary: ProcessFacts = {
  env: { MEX_CONFIG: '/etc/mex/config.json' },
  execArgv: [],
  nodeVersion: '24.1.0',
  uid: 1000,
  file: (path) => FILES[path],
};

export function problemsOf(change: Partial<Config> = {}, around: Partial<ProcessFacts> = {}): string[] {
  return configProblems({ ...loadConfig({}), ...sound, ...change }, { ...ordinary, ...around });
}
/**
 * Defines one test for each case. The test checks that there is exactly one problem and that it matches the pattern.
 */
export function refuses(cases: [title: string, problems: () => string[], words: RegExp][]): void {
  it.each(cases)('configProblems reports one problem for %s', (_title, problems, words) => {
    expect(problems()).toEqual([expect.stringMatching(words)]);
  });
}

export function accepts(cases: [title: string, problems: () => string[]][]): void {
  it.each(cases)('configProblems reports no problem for %s', (_title, problems) =>
    expect(problems()).toEqual([]),
  );
}
