/**
 * Tests production mode as an operator runs it: as a process without root privileges, with separate database roles, and
 * with an external issuer.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRoot, issueLeaf } from '@measurement-exchange/sdk/identity';
import { NOBODY, ordinaryAccount } from '@measurement-exchange/testkit/accounts';
import { onServer, withDatabase } from '@measurement-exchange/testkit/globalSetup';
import { call } from '@measurement-exchange/testkit/http';
import { jws, makeKey } from '@measurement-exchange/testkit/issuer';
import { MEX, type MexProcess, spawnMex, urlOf } from '@measurement-exchange/testkit/process';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { selfSigned } from '@measurement-exchange/testkit/selfSigned';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { describeCertificate } from '../../src/domain/x509.ts';

const ISSUER = 'https://id.example.com';
const PROVIDER = 'dataProviders/publisher';
const key = makeKey('k1');
const suffix = randomBytes(4).toString('hex');
const [own, app, database] = [`mex_own_${suffix}`, `mex_app_${suffix}`, `mex_production_${suffix}`];
const password = randomBytes(16).toString('hex');

const account = ordinaryAccount();
const title = account
  ? 'production mode'
  : 'production mode (skipped: running as root without unshare --user, and uid 65534 cannot read this folder)';

let folder: string;
let children: MexProcess[] = [];

/** Writes a file that, with the default mode, only the account of the `mex` process can read. */
function write(name: string, text: string, mode = 0o600): string {
  const path = join(folder, name);
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode });
  if (account?.identity.uid !== undefined) chownSync(path, NOBODY, NOBODY);
  return path;
}

function as(role: string): string {
  const url = new URL(withDatabase(inject('serverUrl'), database));
  [url.username, url.password] = [role, password];
  return url.href;
}

function config(change: Partial<Config> = {}): Partial<Config> {
  return {
    port: 0,
    dataDir: join(folder, 'data'),
    databaseUrl: as(app),
    databaseAppRole: app,
    issuers: [
      { issuer: ISSUER, audience: 'exchange', jwksFile: join(folder, 'jwks.json'), maxTokenAgeSeconds: 3600 },
    ],
    pageTokenKey: randomBytes(32).toString('base64'),
    secretsKey: randomBytes(32).toString('base64'),
    trustedProxies: [],
    ...change,
  };
}

function mex(
  command: string,
  settings: Partial<Config>,
  env: Record<string, string> = {},
  mode = 0o600,
): MexProcess {
  const file = write('config.json', JSON.stringify(settings), mode);
  const started = spawnMex(command.split(' '), {
    cwd: folder,
    env: { MEX_CONFIG: file, ...env },
    account: account!,
  });
  children.push(started);
  return started;
}

function token(claims: object = {}): string {
  const now = Math.floor(Date.now() / 1000);
  return jws(key, { iss: ISSUER, aud: 'exchange', sub: 'machine-7', iat: now, exp: now + 600, ...claims });
}

describe.skipIf(account === undefined)(title, () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mex-production-'));
    if (account?.identity.uid !== undefined) chownSync(folder, NOBODY, NOBODY);
    write('jwks.json', JSON.stringify({ keys: [key.publicJwk] }));
    const server = inject('serverUrl');
    for (const role of [own, app]) await onServer(server, `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
    await onServer(server, `CREATE DATABASE ${database} OWNER ${own} TEMPLATE template0 ENCODING 'UTF8'`);

    const unmigrated = await mex('serve', config({ databaseUrl: as(own) })).ended;
    expect(unmigrated).toMatchObject({ code: 1, stderr: expect.stringContaining('Run: mex migrate') });
    // The role that owns the tables must not serve requests.
    expect(unmigrated.stderr).toMatch(/role mex_own_\w+ of databaseUrl owns/);
    const migrated = await mex('migrate', config(), { DATABASE_OWNER_URL: as(own) }).ended;
    expect(migrated).toMatchObject({ code: 0, stdout: expect.stringContaining('Applied 0001_') });
    await enrol();
  });
  afterEach(async () => {
    for (const child of children) await child.kill('SIGKILL');
    children = [];
  });
  afterAll(async () => {
    await onServer(inject('serverUrl'), `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
    await onServer(inject('serverUrl'), `DROP ROLE IF EXISTS ${own}, ${app}`);
    rmSync(folder, { recursive: true, force: true });
  });

  /** Registers parties, principals and a certificate directly in the database, with the role that owns the tables. */
  async function enrol(): Promise<void> {
    const root = await createRoot('A root', Date.now());
    const { der } = await issueLeaf(root, 'Publisher', Date.now());
    const { subjectKeyIdentifier, notBefore, notAfter } = describeCertificate(der);
    const bytes = (value: Uint8Array) => `'\\x${Buffer.from(value).toString('hex')}'`;
    await onServer(
      as(own),
      `INSERT INTO parties (name, create_time, update_time)
       VALUES ('${PROVIDER}', now(), now()), ('duchies/worker', now(), now());
       INSERT INTO principals (id, issuer, subject, resource, create_time)
       VALUES ('machine', '${ISSUER}', 'machine-7', '${PROVIDER}', now()),
              ('boss', '${ISSUER}', 'boss', 'operator', now());
       INSERT INTO certificates (party, id, x509_der, subject_key_identifier, not_before, not_after, create_time)
       VALUES ('${PROVIDER}', 'first', ${bytes(der)}, ${bytes(subjectKeyIdentifier)}, '${notBefore}', '${notAfter}', now());`,
    );
  }

  it('accepts only tokens of its issuer, and completes an open request after SIGTERM', async () => {
    const exchange = mex('serve', config());
    const url = await urlOf(exchange);

    const who = await call(token(), 'GET', `${url}/v2alpha/whoami`);
    expect(who).toMatchObject({
      status: 200,
      json: { principal: PROVIDER, issuer: ISSUER, subject: 'machine-7' },
    });
    expect(who.headers.has('x-mex-mode')).toBe(false);
    const certificate = `${PROVIDER}/certificates/first`;
    expect(await call(token(), 'GET', `${url}/v2alpha/${certificate}`)).toMatchObject({
      status: 200,
      json: { name: certificate },
    });
    const boss = token({ sub: 'boss' });
    const endpoints = { 'http://worker.example.com': 400, 'https://worker.example.com': 200 };
    for (const [endpoint, status] of Object.entries(endpoints)) {
      const reply = await call(boss, 'PATCH', `${url}/v2alpha/duchies/worker`, { endpoint });
      expect(reply.status, reply.text).toBe(status);
    }
    // Create and change a population, because the serving role must be able to write all tables of populations.
    const population = `${url}/v2alpha/populations`;
    const body = { vidRanges: [{ start: 1, end: 9 }], modelLines: ['a'], default: true };
    expect((await call(boss, 'POST', `${population}?populationId=all`, body)).status).toBe(200);
    expect((await call(boss, 'PATCH', `${population}/all`, { modelLines: ['b'] })).status).toBe(200);
    const badTokens = [undefined, token({ iss: 'https://other.example.com' }), token({ aud: 'another' })];
    for (const refused of badTokens) {
      expect((await call(refused, 'GET', `${url}/v2alpha/whoami`)).status).toBe(401);
    }
    expect((await call(token({ sub: 'stranger' }), 'GET', `${url}/v2alpha/whoami`)).status).toBe(403);
    for (const page of ['/dev/jwks', '/dev/.well-known/openid-configuration']) {
      expect((await call(undefined, 'GET', `${url}${page}`)).status).toBe(404);
    }
    expect(existsSync(join(folder, 'data', 'dev.json'))).toBe(false);

    // Stop the exchange during a request. The request must still get its response, and the serving role must be able to
    // write the rows of the request.
    const create = await halfSent(`${url}/v2alpha/${PROVIDER}/eventGroupMetadataDescriptors`, {
      descriptorSet: { file: [{ name: 'a.proto', syntax: 'proto3', messageType: [{ name: 'A' }] }] },
    });
    const told = Date.now();
    exchange.child.kill('SIGTERM');
    await sleep(200);
    expect(await create.finish()).toBe(200);
    const { code, stdout, stderr } = await exchange.ended;
    expect(code).toBe(0);
    expect(Date.now() - told).toBeLessThan(10_000);
    expect(stdout + stderr).not.toContain(password);
    expect(stdout + stderr).not.toContain(token().split('.')[1]);
  });

  /** Sends only the headers of a POST. `finish` sends the body and returns the status. */
  async function halfSent(url: string, body: object): Promise<{ finish: () => Promise<number> }> {
    const text = JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${token()}`,
      'content-type': 'application/json',
      'content-length': text.length,
      expect: '100-continue',
    };
    const asked = http.request(url, { method: 'POST', headers });
    const answered = once(asked, 'response');
    const continued = once(asked, 'continue');
    asked.flushHeaders();
    await continued;
    return {
      finish: async () => {
        asked.end(text);
        const [response] = await answered;
        response.resume();
        return response.statusCode;
      },
    };
  }

  it('serves over TLS, and verifies tokens with keys that it fetches from the issuer over https', async () => {
    const identity = await selfSigned();
    const [certFile, keyFile] = [write('cert.pem', identity.cert), write('key.pem', identity.key)];
    const issuer = https.createServer(identity, (_request, response) =>
      response.end(JSON.stringify({ keys: [key.publicJwk] })),
    );
    await once(issuer.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = issuer.address() as AddressInfo;
      const jwksUri = `https://127.0.0.1:${port}/jwks`;
      const settings = config({
        host: '0.0.0.0',
        tls: { certFile, keyFile },
        issuers: [{ issuer: ISSUER, audience: 'exchange', jwksUri, maxTokenAgeSeconds: 3600 }],
        allowedPrivateHosts: ['127.0.0.1'],
      });
      const url = await urlOf(mex('serve', settings, { NODE_EXTRA_CA_CERTS: certFile }));
      expect(url).toMatch(/^https:/);
      expect(await statusOver(url.replace('0.0.0.0', '127.0.0.1'), identity.cert)).toBe(200);
    } finally {
      issuer.close();
    }
  });

  /** Returns the status of whoami for a caller that trusts only this certificate. */
  async function statusOver(url: string, ca: string): Promise<number | undefined> {
    const asked = https
      .request(`${url}/v2alpha/whoami`, {
        ca,
        headers: { authorization: `Bearer ${token()}` },
      })
      .end();
    const [response] = await once(asked, 'response');
    response.resume();
    return response.statusCode;
  }

  it('refuses to start with wrong settings, a config file that others can read, and a debugger', async () => {
    const settings = config({ issuers: [], pageTokenKey: '', host: '0.0.0.0' });
    const env = { NODE_OPTIONS: '--inspect=0 --import=data:text/javascript,' };
    await expectRefusal(mex('serve', settings, env, 0o644), [
      /issuers is empty/,
      /pageTokenKey is not set/,
      /host 0\.0\.0\.0 .* no TLS/,
      /config\.json .*\(mode 0644\)/,
      /--inspect is set \(NODE_OPTIONS\)/,
      /--import is set \(NODE_OPTIONS\)/,
    ]);
  });

  // The tests that run only in `npm run stress` start `mex` for each rule. Other tests check the same rules without a
  // process.
  it.runIf(isStress)('refuses to start with a misspelled setting', async () => {
    const settings = config({ tls: { certfile: 'x' } as never });
    await expectRefusal(mex('serve', settings), [/tls\.certFile is required/, /tls\.certfile/]);
  });

  async function expectRefusal(exchange: MexProcess, words: RegExp[]): Promise<void> {
    const { code, stdout, stderr } = await exchange.ended;
    expect(code).toBe(1);
    for (const word of words) expect(stderr).toMatch(word);
    expect(stderr).not.toMatch(/^\s+at /m); // The lines of a stack trace begin with `at`.
    expect(stdout).not.toContain('listening');
  }

  it('exits with code 1 and prints the connection error if the database is unreachable', async () => {
    const nowhere = `postgres://${app}:${password}@127.0.0.1:1/mex`;
    const { code, stderr } = await mex('serve', config({ databaseUrl: nowhere })).ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/ECONNREFUSED.*Check databaseUrl/),
    });
    expect(stderr).not.toContain(password);
  });

  it.runIf(isStress)('prevents development mode from starting on its database', async () => {
    const development = mex('serve --dev', config({ databaseUrl: as(own) }));
    const outcome = await Promise.race([
      development.ended,
      urlOf(development).catch(() => development.ended),
    ]);
    expect(outcome).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not one of development mode'),
    });
    expect(existsSync(join(folder, 'data', 'dev.json'))).toBe(false);
  });

  it.runIf(isStress && process.geteuid!() === 0)('refuses to start as root', () => {
    const file = write('config.json', JSON.stringify(config()));
    const { status, stderr } = spawnSync(process.execPath, [MEX, 'serve'], {
      env: { PATH: process.env.PATH, MEX_CONFIG: file },
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('runs as root') });
  });

  // Keep this test last, because its change to the database cannot be undone.
  it.runIf(isStress)('refuses to start on a database that has served development mode', async () => {
    await onServer(as(own), "UPDATE settings SET value = 'development' WHERE key = 'mode'");
    const { code, stderr } = await mex('serve', config()).ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('has served development mode'),
    });
  });
});
