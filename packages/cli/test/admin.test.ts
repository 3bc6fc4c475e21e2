/** Tests the commands of `mex admin` against a running exchange. */
import { X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { measurementRequest } from '@measurement-exchange/testkit/exchange';
import { describe, expect, it, vi } from 'vitest';
import { exchange, onboarded, path, token, useExchange, whoAmI } from './adminWorld.ts';
import { mex, mexJson } from './mexInProcess.ts';

useExchange();

describe('mex admin parties', () => {
  it('creates, lists, shows and updates parties', async () => {
    await mex('admin', 'parties', 'create', 'duchies/worker1', '--display-name', 'Worker One');
    expect(await mex('admin', 'parties', 'list')).toMatch(
      /^duchies\/worker1 +Worker One +ACTIVE +none +none$/m,
    );
    const { parties } = await mexJson('admin', 'parties', 'list', '--kind', 'duchies');
    expect(parties.map((p: { name: string }) => p.name)).toEqual(['duchies/worker1']);
    await mex('admin', 'parties', 'update', 'duchies/worker1', '--display-name', 'Worker 1');
    expect((await mexJson('admin', 'parties', 'get', 'duchies/worker1')).displayName).toBe('Worker 1');
    await mex(
      'admin',
      'parties',
      'update',
      'dataProviders/streamly',
      '--available-from',
      '2026-01-01T00:00:00Z',
    );
    expect(
      (await mexJson('admin', 'parties', 'get', 'dataProviders/streamly')).dataAvailabilityInterval,
    ).toEqual({
      startTime: '2026-01-01T00:00:00.000000Z',
    });
    const endpoint = 'http://127.0.0.1:9001';
    expect(await mex('admin', 'parties', 'get', 'duchies/worker1')).toMatch(/endpoint +none: mex admin/);
    await mex('admin', 'parties', 'update', 'duchies/worker1', '--endpoint', `${endpoint}/`);
    expect(await mex('admin', 'parties', 'get', 'duchies/worker1')).toMatch(/endpoint +http:.*:9001$/m);
    const second = await mexJson('admin', 'parties', 'create', 'duchies/worker2', '--endpoint', endpoint);
    expect(second.endpoint).toBe(endpoint);
    await expect(
      mex('admin', 'parties', 'update', 'duchies/worker1', '--endpoint', `${endpoint}/path`),
    ).rejects.toThrow('endpoint');
    await expect(mex('admin', 'parties', 'update', 'duchies/worker1')).rejects.toThrow('Nothing to change');
    await expect(mex('admin', 'parties', 'create', 'duchies/worker1')).rejects.toThrow('exists already');
  });

  it('suspends a party, whose token is then rejected, and resumes it', async () => {
    const name = 'dataProviders/dailynews';
    await mex('admin', 'parties', 'suspend', name);
    expect((await whoAmI(name)).error.details[0].reason).toBe('PRINCIPAL_SUSPENDED');
    await mex('admin', 'parties', 'resume', name);
    expect((await whoAmI(name)).principal).toBe(name);
  });
});

describe('mex admin principals', () => {
  it('binds, lists and unbinds subjects', async () => {
    const bind = [
      'admin',
      'principals',
      'bind',
      'operator',
      '--issuer',
      'https://id.example.com',
      '--subject',
      'bob',
    ];
    const { name } = await mexJson(...bind);
    expect(await mex('admin', 'principals', 'list', '--resource', 'operator')).toMatch(
      new RegExp(`^${name} +operator +bob +https://id\\.example\\.com$`, 'm'),
    );
    await expect(mex(...bind)).rejects.toThrow('bound already');
    await mex('admin', 'principals', 'unbind', name);
    expect(await mex('admin', 'principals', 'list', '--resource', 'operator')).toContain(
      'No principal is bound',
    );
    await expect(mex('admin', 'principals', 'unbind', 'trustedRoots/x')).rejects.toThrow(
      'looks like principals/<id>',
    );
  });
});

describe('mex admin certificates', () => {
  it('registers a second certificate, and lists the days until it expires', async () => {
    const name = 'dataProviders/rotating';
    const directory = await onboarded(name, '--trust-root');
    await mex(
      'identity',
      name,
      '--renew',
      directory,
      '--new-encryption-key',
      '--days',
      '12',
      '--out',
      path('rotated'),
    );
    const { raw } = new X509Certificate(await readFile(path('rotated/certificate.pem')));
    await writeFile(path('rotated/certificate.der'), raw);
    const key = path('rotated/signing-key.pem');
    await expect(mex('admin', 'certificates', 'add', name, key)).rejects.toThrow(
      /signing-key\.pem: it holds a PRIVATE KEY, but no certificate\. Give a certificate in PEM or DER/,
    );
    await mex('admin', 'certificates', 'add', name, path('rotated/certificate.der'));
    await mex('admin', 'parties', 'update', name, '--public-key', path('rotated/party.json'));
    const table = (await mex('admin', 'certificates', 'list', name)).trim().split('\n');
    expect(table).toHaveLength(3);
    expect(table.filter((line) => /VALID +11 days/.test(line))).toHaveLength(1);
    const { publicKey } = await mexJson('admin', 'parties', 'get', name);
    expect(publicKey).toEqual(JSON.parse(await readFile(path('rotated/party.json'), 'utf8')).publicKey);
    await expect(
      mex('admin', 'parties', 'update', 'dataProviders/streamly', '--public-key', path('rotated/party.json')),
    ).rejects.toThrow(`is of ${name}`);
  });

  it('puts a certificate on hold, releases it, and revokes it permanently', async () => {
    const name = 'measurementConsumers/held';
    await onboarded(name);
    const list = () => mex('admin', 'certificates', 'list', name);
    const [certificate] = (await mexJson('admin', 'certificates', 'list', name)).certificates;
    await mex('admin', 'certificates', 'revoke', certificate.name, '--hold');
    expect(await list()).toContain('HOLD');
    // The exchange replies "retry" until all open measurements that relied on the certificate have the state FAILED.
    await vi.waitFor(() => mex('admin', 'certificates', 'release', certificate.name), 90_000);
    expect(await list()).toContain('VALID');
    await mex('admin', 'certificates', 'revoke', certificate.name);
    expect(await list()).toContain('REVOKED');
    await expect(mex('admin', 'certificates', 'release', certificate.name)).rejects.toThrow('final');
    await expect(mex('admin', 'certificates', 'revoke', name)).rejects.toThrow(
      'not the name of a certificate',
    );
  });

  it('lets a party manage its own certificates with its own token, but not those of another party', async () => {
    const name = 'dataProviders/itself';
    const directory = await onboarded(name);
    vi.stubEnv('MEX_TOKEN', await token(name));
    await mex('identity', name, '--renew', directory, '--out', path('itself-2'));
    await mex('admin', 'certificates', 'add', name, path('itself-2/certificate.pem'));
    await mex(
      'admin',
      'parties',
      'update',
      name,
      '--public-key',
      path('itself-2/party.json'),
      '--display-name',
      'Itself',
    );
    const { certificates } = await mexJson('admin', 'certificates', 'list', name);
    await mex('admin', 'certificates', 'revoke', certificates[0].name);
    expect(await mex('admin', 'parties', 'get', name)).toContain('Itself');
    await expect(mex('admin', 'certificates', 'list', 'dataProviders/streamly')).rejects.toThrow(
      /may not do this here.*operator, or as the party/s,
    );
    await expect(mex('admin', 'audit')).rejects.toThrow('PERMISSION_DENIED');
  });
});

describe('mex admin roots', () => {
  it('adds, lists and removes trusted roots', async () => {
    await mex('identity', 'dataProviders/streamly', '--out', path('rooted'));
    const { name } = await mexJson(
      'admin',
      'roots',
      'add',
      path('rooted/root.pem'),
      '--party',
      'dataProviders/streamly',
    );
    expect(await mex('admin', 'roots', 'list')).toMatch(
      new RegExp(`^${name} +dataProviders/streamly +20`, 'm'),
    );
    await expect(mex('admin', 'roots', 'add', path('rooted/certificate.pem'))).rejects.toThrow('x509Pem');
    await mex('admin', 'roots', 'remove', name);
    expect(await mex('admin', 'roots', 'list')).not.toContain(name);
  });
});

/**
 * Waits for audit entries. The log shows an entry only when no older transaction on the server can still commit. The
 * transactions of other tests on the same server can delay the entry.
 */
function audited(name: string, count: number): Promise<{ principal: string; operation: string }[]> {
  return vi.waitUntil(
    async () => {
      const { auditEntries } = await mexJson('admin', 'audit', '--name', name);
      return auditEntries.length >= count && auditEntries;
    },
    { timeout: 90_000, interval: 100 },
  );
}

describe('mex admin audit', () => {
  it('lists the principal and operation of each change, for one resource or the latest with --last', async () => {
    await mex('admin', 'parties', 'create', 'duchies/audited');
    await mex('admin', 'parties', 'suspend', 'duchies/audited');
    const entries = await audited('duchies/audited', 2);
    expect(entries.map((e) => [e.principal, e.operation])).toEqual([
      ['operator', 'createParty'],
      ['operator', 'suspendParty'],
    ]);
    expect(await mex('admin', 'audit', '--last', '1')).toMatch(
      /^TIME.*\n\S+ \S+ +operator +suspendParty +duchies\/audited +\S+\n$/,
    );
    await expect(mex('admin', 'audit', '--last', '0')).rejects.toThrow('above 0');
  });
});

describe('mex admin health, doctor and status', () => {
  it('show the health of the parties, the findings of the doctor, and the state of the exchange', async () => {
    await whoAmI('dataProviders/streamly');
    expect(await mex('admin', 'health')).toMatch(
      /^dataProviders\/streamly +ACTIVE +20\S+ \S+ +\d+ days +\d+ +\d+ +\d+$/m,
    );
    const { partyHealth } = await mexJson('admin', 'health');
    expect(partyHealth.map(({ name }: { name: string }) => name)).toContain('measurementConsumers/acme');

    expect(await mex('admin', 'doctor')).toBe('It has not run yet: --run.\n');
    expect(await mex('admin', 'doctor', '--run')).toMatch(/^The last run ended on .*\n.*(checks|warning)/);
    expect(await mexJson('admin', 'doctor')).toMatchObject({ running: false, checks: expect.any(Number) });

    const status = await mex('admin', 'status');
    expect(status).toMatch(/^1 replicas? in development mode\n/);
    expect(status).toMatch(/migration +00\d\d_/);
    expect(status).toMatch(/open +\d+ AWAITING_REQUISITION_FULFILLMENT, 0 COMPUTING/);
  });
});

describe('mex admin operator', () => {
  it('binds an operator in the database with an audit entry, and is idempotent', async () => {
    const first = await mexJson('admin', 'operator', 'https://id.example.com', 'alice');
    expect(first).toMatchObject({ resource: 'operator', created: true });
    expect(await mexJson('admin', 'operator', 'https://id.example.com', 'alice')).toMatchObject({
      name: first.name,
      created: false,
    });
    expect(await audited(first.name, 1)).toMatchObject([
      { principal: 'database owner', operation: 'bindOperator' },
    ]);
    expect((await mexJson('admin', 'principals', 'list', '--resource', 'operator')).principals).toMatchObject(
      [{ subject: 'alice' }],
    );
  });

  it('rejects an issuer that the exchange does not trust, and a subject that is bound to a party', async () => {
    await writeFile(
      path('config.json'),
      JSON.stringify({ issuers: [{ issuer: 'https://id.example.com', audience: 'a' }] }),
    );
    vi.stubEnv('MEX_CONFIG', path('config.json'));
    await expect(mex('admin', 'operator', 'https://id.exampel.com', 'alice')).rejects.toThrow(
      'accepts tokens of https://id.example.com, not of',
    );
    await mex(
      'admin',
      'principals',
      'bind',
      'dataProviders/streamly',
      '--issuer',
      'https://id.example.com',
      '--subject',
      's1',
    );
    await expect(mex('admin', 'operator', 'https://id.example.com', 's1')).rejects.toThrow(
      'speaks for dataProviders/streamly',
    );
  });
});

describe('mex admin retention', () => {
  const [consumer, provider] = [
    () => exchange.dev.measurementConsumers[0]!,
    () => exchange.dev.dataProviders[0]!,
  ];
  const create = async () => {
    const request = measurementRequest(consumer(), [provider()]);
    return (
      await exchange.call(consumer().token, 'POST', `/v2alpha/${consumer().name}/measurements`, request)
    ).json.name;
  };
  const state = async (name: string) => {
    const { json } = await exchange.call(consumer().token, 'GET', `/v2alpha/${name}`);
    return [json.state, json.deleteTime !== undefined];
  };

  it('prints how many measurements it would cancel and remove, and does so only with --apply', async () => {
    const [pending, ended] = [await create(), await create()];
    await exchange.call(consumer().token, 'POST', `/v2alpha/${ended}:cancel`, {});
    await expect(mex('admin', 'retention')).rejects.toThrow(/No retention is configured.*MEX_CONFIG/);

    const oneMillisecond = 1 / 86_400_000;
    const retention = { cancelPendingAfterDays: oneMillisecond, removeTerminalAfterDays: oneMillisecond };
    await writeFile(path('retention.json'), JSON.stringify({ retention }));
    vi.stubEnv('MEX_CONFIG', path('retention.json'));
    expect(await mexJson('admin', 'retention')).toEqual({ applied: false, cancel: 1, remove: 1 });
    expect(await state(pending)).toEqual(['AWAITING_REQUISITION_FULFILLMENT', false]);
    expect(await state(ended)).toEqual(['CANCELLED', false]);

    expect(await mex('admin', 'retention', '--apply')).toMatch(
      /^Cancelled 1 pending measurement and removed \d measurements? that ended/,
    );
    expect((await state(pending))[0]).toBe('CANCELLED');
    expect(await state(ended)).toEqual(['CANCELLED', true]);
  });
});

describe('mex admin without a valid token', () => {
  it('fails, and explains how to name the exchange or to get a fresh token', async () => {
    vi.stubEnv('MEX_DATA_DIR', path('nowhere'));
    await expect(mex('admin', 'parties', 'list')).rejects.toThrow(/--url, or MEX_URL.*npm start/);
    vi.stubEnv('MEX_DATA_DIR', exchange.dataDir);
    vi.stubEnv('MEX_TOKEN', 'stale');
    await expect(mex('admin', 'parties', 'list')).rejects.toThrow(/TOKEN_INVALID.*fresh token/s);
  });

  it("does not send the development operator's token to another exchange", async () => {
    vi.stubEnv('MEX_URL', exchange.url.replace('127.0.0.1', 'localhost'));
    await expect(mex('admin', 'parties', 'list')).rejects.toThrow(/Say who you are.*MEX_TOKEN/);
  });
});
