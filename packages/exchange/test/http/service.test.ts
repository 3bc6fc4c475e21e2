import { createPrivateKey, X509Certificate } from 'node:crypto';
import { API_PREFIX, ROUTES } from '@measurement-exchange/contract';
import { type DevParty, measurementRequest, useExchange } from '@measurement-exchange/testkit/exchange';
import {
  addCertificate,
  castOf,
  createMeasurement,
  errorOf,
  get,
  metadata,
  ok,
  post,
  TIMESTAMP,
} from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;

const exchange = useExchange();
beforeAll(() => {
  ({ acme, globex, streamly } = castOf(exchange));
});

const page = (path: string) => exchange.call(undefined, 'GET', path);

describe('whoami', () => {
  it('returns the principal, the issuer and the subject of the token', async () => {
    const callers = [...exchange.dev.measurementConsumers, ...exchange.dev.dataProviders];
    for (const { name, token } of [...callers, { name: 'operator', token: exchange.dev.operator.token }]) {
      const { iss, sub } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
      expect(await ok(exchange.call(token, 'GET', '/v2alpha/whoami'))).toEqual({
        principal: name,
        issuer: iss,
        subject: sub,
      });
    }
  });
});

describe('a certificate', () => {
  it('has exactly the fields of the contract', async () => {
    const certificate = await get(exchange, acme, acme.certificate);
    expect(certificate).toEqual({
      name: acme.certificate,
      x509Der: expect.any(String),
      subjectKeyIdentifier: expect.any(String),
      notBefore: expect.stringMatching(TIMESTAMP),
      notAfter: expect.stringMatching(TIMESTAMP),
    });
    const x509 = new X509Certificate(Buffer.from(certificate.x509Der, 'base64'));
    expect(x509.checkPrivateKey(createPrivateKey(acme.privateKeyPem))).toBe(true);
    expect(Date.parse(certificate.notBefore)).toBe(x509.validFromDate.getTime());
    expect(Date.parse(certificate.notAfter)).toBe(x509.validToDate.getTime());
  });

  it('shows whether it is on hold or revoked', async () => {
    for (const revocationState of ['HOLD', 'REVOKED']) {
      const name = await addCertificate(exchange, streamly.name, revocationState, { revocationState });
      expect(await get(exchange, acme, name)).toMatchObject({ name, revocationState });
    }
  });

  it('is readable by counterparties, but denied to competitors', async () => {
    expect(await get(exchange, acme, streamly.certificate)).toMatchObject({ name: streamly.certificate });
    expect(await get(exchange, streamly, acme.certificate)).toMatchObject({ name: acme.certificate });
    expect(errorOf(await exchange.call(globex.token, 'GET', `/v2alpha/${acme.certificate}`))).toBe(
      '403 PERMISSION_DENIED PERMISSION_DENIED',
    );
  });

  it('that does not exist is NOT_FOUND, with its name', async () => {
    for (const [name, key] of [
      [`${acme.name}/certificates/absent`, 'measurementConsumerCertificate'],
      [`${streamly.name}/certificates/${acme.certificate.split('/').at(-1)}`, 'dataProviderCertificate'],
      ['dataProviders/nobody/certificates/preferred', 'dataProviderCertificate'],
      ['duchies/nobody/certificates/c', 'duchyCertificate'],
    ]) {
      const reply = await exchange.call(acme.token, 'GET', `/v2alpha/${name}`);
      expect(errorOf(reply)).toBe('404 NOT_FOUND CERTIFICATE_NOT_FOUND');
      expect(metadata(reply)).toEqual({ [key!]: name });
    }
  });
});

describe('the preferred certificate', () => {
  /**
   * The certificates from worst to best. In order of importance, the criteria are: neither revoked nor held, valid now,
   * latest notAfter, latest notBefore.
   */
  const RANKING: [string, Parameters<typeof addCertificate>[3]][] = [
    ['revoked-expired', { revocationState: 'REVOKED', notAfter: '2021-06-01' }],
    ['held-expired-later', { revocationState: 'HOLD', notAfter: '2021-07-01' }],
    ['held', { revocationState: 'HOLD', notAfter: '2090-01-01' }],
    ['revoked-longer', { revocationState: 'REVOKED', notAfter: '2099-01-01' }],
    ['expired', { notAfter: '2021-01-01' }],
    ['early', { notBefore: '2098-01-01', notAfter: '2099-01-01' }],
    ['good', { notAfter: '2080-01-01' }],
    ['longer', { notAfter: '2090-01-01' }],
    ['newer', { notBefore: '2022-01-01', notAfter: '2090-01-01' }],
  ];

  it.each(['measurementConsumers/p', 'dataProviders/p', 'duchies/p'])(
    'of %s is the best by revocation state, validity and expiration, not the newest',
    async (party) => {
      await exchange.database.query(
        'INSERT INTO parties (name, create_time, update_time) VALUES ($1, now(), now())',
        [party],
      );
      const read = () =>
        exchange.call(exchange.dev.operator.token, 'GET', `/v2alpha/${party}/certificates/preferred`);
      expect(errorOf(await read())).toBe('404 NOT_FOUND CERTIFICATE_NOT_FOUND');
      for (const [id, fields] of RANKING) {
        const name = await addCertificate(exchange, party, id, fields);
        expect(await ok(read())).toMatchObject({ name });
      }
      // Adding worse certificates later changes nothing, because `preferred` is the best certificate, not the newest.
      for (const [id, fields] of RANKING.slice(0, -1))
        await addCertificate(exchange, party, `late-${id}`, fields);
      expect(await ok(read())).toMatchObject({ name: `${party}/certificates/newer` });
    },
  );

  it('is readable by the party itself and by a counterparty', async () => {
    expect(await get(exchange, acme, `${acme.name}/certificates/preferred`)).toEqual(
      await get(exchange, acme, acme.certificate),
    );
    expect(await get(exchange, streamly, 'duchies/p/certificates/preferred')).toMatchObject({
      name: 'duchies/p/certificates/newer',
    });
  });
});

describe('pages without a token', () => {
  it('/healthz returns ok, and /readyz returns ready', async () => {
    expect(await ok(page('/healthz'))).toEqual({ status: 'ok' });
    expect(await ok(page('/readyz'))).toEqual({ status: 'ready' });
  });

  it('/openapi.json describes every operation', async () => {
    const document = await ok(page('/openapi.json'));
    expect(document.openapi).toMatch(/^3\.1\./);
    const described = Object.values(document.paths as Record<string, Record<string, { operationId: string }>>)
      .flatMap((methods) => Object.values(methods))
      .map((o) => o.operationId);
    expect(described).toHaveLength(ROUTES.length);
    expect(Object.keys(document.paths).every((path) => path.startsWith(`${API_PREFIX}/`))).toBe(true);
  });

  it('/docs is a page without external resources that contains every operation', async () => {
    const { status, headers, text } = await page('/docs');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    for (const { operation } of ROUTES) expect(text).toContain(operation);
    expect(text).toContain(`MEX_URL=${exchange.url}\n`);
    expect(text).toContain(`token ${acme.name})`);
    expect(text).not.toContain(acme.token);
  });

  it('/ redirects a browser to /docs, and returns ROUTE_NOT_FOUND to other callers', async () => {
    const { url, redirected } = await fetch(exchange.url, { headers: { accept: 'text/html,*/*;q=0.8' } });
    expect([url, redirected]).toEqual([`${exchange.url}/docs`, true]);
    expect(errorOf(await page('/'))).toBe('404 NOT_FOUND ROUTE_NOT_FOUND');
  });

  it('the development issuer publishes its public key without the private part', async () => {
    const { keys } = await ok(page('/dev/jwks'));
    expect(keys).toHaveLength(1);
    expect(keys[0]).not.toHaveProperty('d');
    expect(await ok(page('/dev/.well-known/openid-configuration'))).toMatchObject({
      jwks_uri: `${exchange.url}/dev/jwks`,
    });
  });
});

describe('/metrics', () => {
  /** Returns the value of a metric series, or 0 if the series does not exist yet. */
  async function series(name: string): Promise<number> {
    const { status, headers, text } = await page('/metrics');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
    const line = text.split('\n').find((l) => l.startsWith(`${name} `));
    return line === undefined ? 0 : Number(line.split(' ').at(-1));
  }
  /** Returns how much the value of each series changes while `run` runs. */
  async function moved(names: string[], run: () => Promise<unknown>): Promise<number[]> {
    const before: number[] = [];
    for (const name of names) before.push(await series(name));
    await run();
    const after: number[] = [];
    for (const [i, name] of names.entries()) after.push((await series(name)) - before[i]!);
    return after;
  }

  it('counts and times requests by operation and code', async () => {
    const names = [
      'mex_requests_total{operation="getMeasurement",code="OK"}',
      'mex_requests_total{operation="getMeasurement",code="NOT_FOUND"}',
      'mex_requests_total{operation="getMeasurement",code="PERMISSION_DENIED"}',
      'mex_requests_total{operation="none",code="UNAUTHENTICATED"}',
      'mex_request_seconds_count{operation="getMeasurement"}',
    ];
    const { name } = await createMeasurement(exchange, acme, [streamly]);
    const run = async () => {
      await get(exchange, acme, name);
      await get(exchange, acme, name);
      await exchange.call(acme.token, 'GET', `/v2alpha/${name}x`);
      await exchange.call(globex.token, 'GET', `/v2alpha/${name}`);
      await exchange.call(undefined, 'GET', `/v2alpha/${name}`);
    };
    expect(await moved(names, run)).toEqual([2, 1, 1, 1, 4]);
  });

  it('counts and times transactions by name and outcome', async () => {
    const names = [
      'mex_transactions_total{name="createMeasurement",outcome="committed"}',
      'mex_transactions_total{name="createMeasurement",outcome="rolledBack"}',
      'mex_transaction_seconds_count{name="createMeasurement"}',
    ];
    const request = measurementRequest(acme, [streamly]);
    const run = async () => {
      await ok(post(exchange, acme, `${acme.name}/measurements`, request));
      await ok(post(exchange, acme, `${acme.name}/measurements?validateOnly=true`, request));
    };
    expect(await moved(names, run)).toEqual([1, 1, 2]);
  });

  it('shows the connections to the database', async () => {
    expect(await series('mex_pool_connections{state="idle"}')).toBeGreaterThan(0);
    const { text } = await page('/metrics');
    for (const state of ['busy', 'waiting'])
      expect(text).toContain(`mex_pool_connections{state="${state}"} 0`);
    expect(text).toContain('process_resident_memory_bytes');
  });
});
