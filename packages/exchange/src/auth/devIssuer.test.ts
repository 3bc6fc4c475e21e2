import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDevIssuer, DEV_AUDIENCE } from './devIssuer.ts';
import { createTokenVerifier } from './tokens.ts';

const baseUrl = 'http://127.0.0.1:8080';
let directory: string;
let keyFile: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mex-issuer-'));
  keyFile = join(directory, 'data', 'issuer.json');
});
afterEach(() => rm(directory, { recursive: true }));

it('mints tokens that the token verifier accepts with the keys from the JWKS URL', async () => {
  const server = createServer((request, response) => {
    response.end(JSON.stringify(request.url === '/dev/jwks' ? issuer.jwks : issuer.discovery));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address() as { port: number };
  const issuer = await createDevIssuer({ keyFile, baseUrl: `http://127.0.0.1:${address.port}` });
  const verifier = createTokenVerifier({ issuers: [issuer.issuerConfig] });

  const verified = await verifier.verify(await issuer.mint('dataProviders/streamly'));
  server.close();
  expect(verified).toMatchObject({
    issuer: `http://127.0.0.1:${address.port}/dev`,
    subject: 'dataProviders/streamly',
    claimedPrincipal: 'dataProviders/streamly',
  });
  expect(verified.expiresAt * 1000 - Date.now()).toBeGreaterThan(12 * 3600_000 - 5000);
  expect(issuer.discovery).toEqual({
    issuer: issuer.issuer,
    jwks_uri: `${issuer.issuer}/jwks`,
    authorization_endpoint: `${issuer.issuer}/authorize`,
    token_endpoint: `${issuer.issuer}/token`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    scopes_supported: ['openid'],
    authorization_response_iss_parameter_supported: true,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  });
  expect(issuer.issuerConfig.audience).toBe(DEV_AUDIENCE);
});

it('stores its key in a file with mode 0600, and does not publish the private part', async () => {
  const issuer = await createDevIssuer({ keyFile, baseUrl });
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
  const { d } = JSON.parse(await readFile(keyFile, 'utf8'));
  expect(d).toMatch(/^[\w-]{43}$/);
  expect(JSON.stringify([issuer.jwks, issuer.discovery, issuer.issuerConfig])).not.toContain(d);
  expect(Object.keys(issuer.jwks.keys[0]!).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
});

it('creates only one key for concurrent and later starts', async () => {
  const issuers = await Promise.all(Array.from({ length: 8 }, () => createDevIssuer({ keyFile, baseUrl })));
  const later = await createDevIssuer({ keyFile, baseUrl });
  expect(new Set([...issuers, later].map((issuer) => issuer.jwks.keys[0]!.kid)).size).toBe(1);
  expect(await readdir(join(directory, 'data'))).toEqual(['issuer.json']);
});

it('throws an error that names the key file if the file is damaged', async () => {
  await createDevIssuer({ keyFile, baseUrl });
  await writeFile(keyFile, '{"kty":');
  await expect(createDevIssuer({ keyFile, baseUrl })).rejects.toThrow(`${keyFile} is damaged: remove it`);
});

it('mints tokens with the given lifetime, and only for valid principal names', async () => {
  const issuer = await createDevIssuer({ keyFile, baseUrl, clock: () => 1_800_000_000_500 });
  const claims = JSON.parse(
    Buffer.from((await issuer.mint('operator', 60)).split('.')[1]!, 'base64url').toString(),
  );
  expect(claims).toMatchObject({ sub: 'operator', iat: 1_800_000_000, exp: 1_800_000_060 });
  await expect(issuer.mint('somebody')).rejects.toThrow('is not a principal');
});
