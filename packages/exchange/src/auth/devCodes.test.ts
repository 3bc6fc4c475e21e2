import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { DevCodes } from './devCodes.ts';

const redirectUri = 'http://127.0.0.1:8080/signed-in';
const verifier = 'v'.repeat(43);
const codeChallenge = createHash('sha256').update(verifier).digest('base64url');
const grant = { principal: 'operator', redirectUri, codeChallenge };

it('redeems a code once', () => {
  const codes = new DevCodes();
  const code = codes.issue(grant);
  expect(codes.redeem(code, redirectUri, verifier)).toBe('operator');
  expect(codes.redeem(code, redirectUri, verifier)).toBeUndefined();
});

it('rejects an unknown code, another redirect URI, a wrong verifier, and a code after one minute', () => {
  let now = 0;
  const codes = new DevCodes(() => now);
  expect(codes.redeem(codes.issue(grant), `${redirectUri}/`, verifier)).toBeUndefined();
  expect(codes.redeem(codes.issue(grant), redirectUri, 'w'.repeat(43))).toBeUndefined();
  expect(codes.redeem('unknown', redirectUri, verifier)).toBeUndefined();
  const code = codes.issue(grant);
  now = 60_000;
  expect(codes.redeem(code, redirectUri, verifier)).toBeUndefined();
});

it('invalidates a code after an attempt with a wrong verifier', () => {
  const codes = new DevCodes();
  const code = codes.issue(grant);
  codes.redeem(code, redirectUri, 'w'.repeat(43));
  expect(codes.redeem(code, redirectUri, verifier)).toBeUndefined();
});
