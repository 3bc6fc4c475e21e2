import 'reflect-metadata';
import { newCertificate } from '@measurement-exchange/testkit/certificates';
import { type DevParty, type Reply, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { generateKeys } from '@measurement-exchange/testkit/issuing';
import { castOf, errorOf, get, metadata, ok, post, stored } from '@measurement-exchange/testkit/steps';
import * as x509 from '@peculiar/x509';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDevIssuer } from '../../src/auth/devIssuer.ts';
import { doctor } from '../../src/database/doctor.ts';
import { devKeyFile } from '../../src/dev/index.ts';

const KINDS = ['measurementConsumer', 'dataProvider', 'duchy'] as const;

let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;
let operator: DevParty;
let parties: Record<(typeof KINDS)[number], DevParty>;

const exchange = useExchange({ rate: UNLIMITED });
beforeAll(async () => {
  ({ acme, globex, streamly } = castOf(exchange));
  operator = { ...acme, name: 'operator', token: exchange.dev.operator.token };
  const { name } = await ok(post(exchange, operator, 'duchies?duchyId=worker', {}));
  const issuer = await createDevIssuer({ keyFile: devKeyFile(exchange.dataDir), baseUrl: exchange.url });
  const duchy = { ...acme, name, token: await issuer.mint(name), certificate: '' };
  parties = { measurementConsumer: acme, dataProvider: streamly, duchy };
});

function create(party: DevParty, body: object, caller = party): Promise<Reply> {
  return post(exchange, caller, `${party.name}/certificates`, body);
}

async function created(party: DevParty, keys?: CryptoKeyPair): Promise<string> {
  const { x509Der } = await newCertificate(keys);
  return (await ok(create(party, { x509Der }))).name;
}

function revoke(party: DevParty, name: string, revocationState: string): Promise<Reply> {
  return post(exchange, party, `${name}:revoke`, { revocationState });
}

/** Returns all audit entries of a resource as `version operation principal`. */
async function auditOf(name: string): Promise<string[]> {
  const rows = await exchange.database.query(
    'SELECT operation, version, principal FROM audit_entries WHERE name = $1 ORDER BY seq',
    [name],
  );
  return rows.map((row) => `${row.version} ${row.operation} ${row.principal}`);
}

describe.each(KINDS)('a certificate of a %s', (kind) => {
  it('is registered as DER or PEM, and returned unchanged', async () => {
    const party = parties[kind];
    for (const form of ['x509Der', 'x509Pem'] as const) {
      const made = await newCertificate();
      const reply = await ok(create(party, { [form]: made[form] }));
      const parsed = new x509.X509Certificate(made.x509Der);
      expect(reply).toEqual({
        name: expect.stringMatching(new RegExp(`^${party.name}/certificates/[a-z][a-z0-9]{13}$`)),
        x509Der: made.x509Der,
        subjectKeyIdentifier: Buffer.from(
          parsed.getExtension(x509.SubjectKeyIdentifierExtension)!.keyId,
          'hex',
        ).toString('base64'),
        notBefore: parsed.notBefore.toISOString().replace('Z', '000Z'),
        notAfter: parsed.notAfter.toISOString().replace('Z', '000Z'),
      });
      expect(await get(exchange, party, reply.name)).toEqual(reply);
      expect((await get(exchange, party, `${party.name}/certificates`)).certificates).toContainEqual(reply);
    }
  });

  it('is put on hold, released and revoked, by its party and by the operator', async () => {
    const party = parties[kind];
    const name = await created(party);
    for (const [caller, verb, state] of [
      [party, 'revoke', 'HOLD'],
      [operator, 'releaseHold', undefined],
      [operator, 'revoke', 'HOLD'],
      [party, 'revoke', 'REVOKED'],
    ] as const) {
      const body = state && { revocationState: state };
      const { revocationState, ...rest } = await eventually(() =>
        post(exchange, caller, `${name}:${verb}`, body),
      );
      expect(revocationState).toBe(state);
      expect(await get(exchange, party, name)).toEqual({ ...rest, ...body });
    }
    expect(await auditOf(name)).toEqual([
      `1 createCertificate ${party.name}`,
      `2 revokeCertificate ${party.name}`,
      '3 releaseCertificateHold operator',
      '4 revokeCertificate operator',
      `5 revokeCertificate ${party.name}`,
    ]);
  });

  it('cannot be registered, listed, revoked or released by another party', async () => {
    const party = parties[kind];
    const name = await created(party);
    for (const other of [...Object.values(parties), globex].filter((p) => p !== party)) {
      const replies = [
        await create(party, await derOf(newCertificate()), other),
        await exchange.call(other.token, 'GET', `/v2alpha/${party.name}/certificates`),
        await revoke(other, name, 'HOLD'),
        await post(exchange, other, `${name}:releaseHold`),
      ];
      expect(replies.map((reply) => reply.status)).toEqual([403, 403, 403, 403]);
    }
    expect(await get(exchange, party, name)).not.toHaveProperty('revocationState');
  });

  it('is NOT_FOUND if its party or its name is unknown', async () => {
    const nobody = { ...operator, name: parties[kind].name.replace(/\/.*/, '/nobody') };
    const reason = {
      measurementConsumer: 'MEASUREMENT_CONSUMER',
      dataProvider: 'DATA_PROVIDER',
      duchy: 'DUCHY',
    };
    const { x509Der } = await newCertificate();
    for (const reply of [
      await create(nobody, { x509Der }),
      await exchange.call(operator.token, 'GET', `/v2alpha/${nobody.name}/certificates`),
    ]) {
      expect(errorOf(reply)).toBe(`404 NOT_FOUND ${reason[kind]}_NOT_FOUND`);
      expect(metadata(reply)).toEqual({ [kind]: nobody.name });
    }
    for (const verb of ['revoke', 'releaseHold']) {
      for (const name of [`${nobody.name}/certificates/x`, `${parties[kind].name}/certificates/preferred`]) {
        const body = verb === 'revoke' ? { revocationState: 'HOLD' } : undefined;
        const reply = await post(exchange, operator, `${name}:${verb}`, body);
        expect(errorOf(reply)).toBe('404 NOT_FOUND CERTIFICATE_NOT_FOUND');
        expect(metadata(reply)).toEqual({ [`${kind}Certificate`]: name });
      }
    }
  });
});

/**
 * Repeats a request while the reply is 503, at most 50 times. The exchange replies 503 to the release of a hold while
 * the cascade that the hold started is running.
 */
async function eventually(attempt: () => Promise<Reply>): Promise<Reply['json']> {
  let reply = await attempt();
  for (let i = 0; i < 50 && reply.status === 503; i++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    reply = await attempt();
  }
  return ok(reply);
}

describe('registering a certificate', () => {
  it('requires one certificate with a key identifier, either as DER or as PEM', async () => {
    const { x509Der, x509Pem } = await newCertificate();
    const bare = await newCertificate(undefined, { extensions: [] });
    const long = await newCertificate(undefined, {
      extensions: [
        new x509.SubjectKeyIdentifierExtension('0102'),
        new x509.Extension('1.2.3.4', false, new Uint8Array(15_000)),
      ],
    });
    for (const [body, field] of [
      [{}, 'x509Der'],
      [{ x509Der, x509Pem }, 'x509Der'],
      [{ x509Der: '' }, 'x509Der'],
      [{ x509Der: 'AAAA' }, 'x509Der'],
      [{ x509Der: `${x509Der}=` }, 'x509Der'],
      [{ x509Der: Buffer.from(x509Pem).toString('base64') }, 'x509Der'],
      [{ x509Der: bare.x509Der }, 'x509Der'],
      [{ x509Der: long.x509Der }, 'x509Der'],
      [{ x509Pem: x509Der }, 'x509Pem'],
      [{ x509Pem: x509Pem.replaceAll('CERTIFICATE', 'PUBLIC KEY') }, 'x509Pem'],
      [{ x509Pem: `${x509Pem}\n${x509Pem}` }, 'x509Pem'],
      [{ x509Pem: bare.x509Pem }, 'x509Pem'],
      [{ x509Der, requestId: 'once' }, 'requestId'],
      [{ x509Der, subjectKey: 'AA==' }, 'subjectKey'],
    ] as const) {
      expect(errorOf(await create(acme, body))).toBe(`400 INVALID_ARGUMENT INVALID_FIELD_VALUE ${field}`);
    }
    // A client may send back a certificate that it read. The exchange ignores the output-only fields, and accepts the
    // line endings of any operating system.
    const body = { x509Pem: x509Pem.replaceAll('\n', '\r\n'), name: 'ignored', revocationState: 'REVOKED' };
    expect(await ok(create(acme, { certificate: body }))).not.toHaveProperty('revocationState');
  });

  it('rejects a duplicate with the name of the existing certificate', async () => {
    const { x509Der, x509Pem } = await newCertificate();
    const { name } = await ok(create(acme, { x509Der }));
    const again = await create(acme, { x509Pem });
    expect(errorOf(again)).toBe('409 ALREADY_EXISTS CERTIFICATE_ALREADY_EXISTS');
    expect(metadata(again)).toEqual({ existing: name });
  });

  it('by another party reserves neither the certificate nor its key', async () => {
    for (const squatter of [globex, streamly, parties.duchy]) {
      const keys = await generateKeys();
      const [certificate, renewed] = [await newCertificate(keys), await newCertificate(keys)];
      // Also register a certificate for another key with the same key identifier. A key identifier must not reserve a
      // key, because any certificate can contain it.
      const keyIdentifier = new x509.X509Certificate(certificate.x509Der).getExtension(
        x509.SubjectKeyIdentifierExtension,
      )!.keyId;
      const forged = await newCertificate(undefined, {
        extensions: [new x509.SubjectKeyIdentifierExtension(keyIdentifier)],
      });
      for (const { x509Der } of [certificate, forged]) await ok(create(squatter, { x509Der }));

      for (const { x509Der } of [certificate, renewed]) {
        const { name } = await ok(create(acme, { x509Der }));
        expect(name).toMatch(`${acme.name}/certificates/`);
      }
    }
    // The doctor reports the shared key to the operator as a warning, not as an error.
    const ailments = await doctor({ connection: { connectionString: exchange.database.url } });
    expect(ailments.map(({ check, severity }) => [check, severity])).toEqual([['key-shared', 'warning']]);
  });

  it('that belongs to another party does not affect that party', async () => {
    const { publicKey } = await get(exchange, operator, streamly.name);
    const { x509Der } = await get(exchange, operator, streamly.certificate);
    const copied = await ok(create(globex, { x509Der }));
    const before = await get(exchange, operator, globex.name);
    expect(before.certificate).toBe(globex.certificate);
    // A copied certificate lets the other party publish the signed key, but only the key's owner can decrypt data that
    // is encrypted with the key.
    const shown = await ok(exchange.call(globex.token, 'PATCH', `/v2alpha/${globex.name}`, { publicKey }));
    expect(shown.certificate).toBe(copied.name);
    expect(await get(exchange, operator, streamly.name)).toMatchObject({
      certificate: streamly.certificate,
      publicKey,
    });
    // Revoking the copy does not affect the original.
    await ok(revoke(globex, copied.name, 'REVOKED'));
    expect(await get(exchange, streamly, streamly.certificate)).not.toHaveProperty('revocationState');
    const { publicKey: own } = before;
    await ok(exchange.call(globex.token, 'PATCH', `/v2alpha/${globex.name}`, { publicKey: own }));
  });

  it('succeeds once if a party registers the same certificate several times concurrently', async () => {
    for (let race = 0; race < 10; race++) {
      const { x509Der } = await newCertificate();
      const replies = await Promise.all(Array.from({ length: 4 }, () => create(acme, { x509Der })));
      expect(replies.map((reply) => reply.status).sort()).toEqual([200, 409, 409, 409]);
    }
  });

  it('returns a finding if no trusted root issued the certificate', async () => {
    const root = await newCertificate(undefined, {
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.SubjectKeyIdentifierExtension('7007'),
      ],
    });
    const trusted = await ok(
      post(exchange, operator, 'trustedRoots', { x509Der: root.x509Der, party: globex.name }),
    );
    const reply = await create(globex, { x509Der: (await newCertificate()).x509Der });
    expect(reply.headers.get('x-mex-findings')).toBe('1');
    const { x509Pem } = await newCertificate();
    const validated = await ok(
      post(exchange, globex, `${globex.name}/certificates?validateOnly=true`, { x509Pem }),
    );
    expect(validated.findings).toMatchObject([{ code: 'CERTIFICATE_UNTRUSTED', field: 'x509Pem' }]);
    await ok(exchange.call(operator.token, 'DELETE', `/v2alpha/${trusted.name}`));
  });
});

describe('revoking a certificate', () => {
  const ILLEGAL = '400 FAILED_PRECONDITION CERTIFICATE_REVOCATION_STATE_ILLEGAL';
  it.each([
    [['HOLD', 'HOLD'], 'HOLD', 1],
    [['HOLD', 'REVOKED'], 'REVOKED', 2],
    [['REVOKED', 'REVOKED'], 'REVOKED', 1],
    [['REVOKED', 'HOLD'], ILLEGAL, 1],
    [['REVOKED', 'release'], ILLEGAL, 1],
    [['release'], ILLEGAL, 0],
  ])('with the steps %j ends in %s after %i changes', async (steps, outcome, changes) => {
    const name = await created(acme);
    const replies: Reply[] = [];
    for (const step of steps) {
      const released = step === 'release';
      replies.push(await (released ? post(exchange, acme, `${name}:releaseHold`) : revoke(acme, name, step)));
    }
    const last = replies.at(-1)!;
    expect(last.status === 200 ? last.json.revocationState : errorOf(last)).toBe(outcome);
    expect(await auditOf(name)).toHaveLength(1 + changes);
  });

  it('rejects states other than HOLD and REVOKED', async () => {
    for (const body of [{}, { revocationState: 'REVOCATION_STATE_UNSPECIFIED' }, { revocationState: 2 }]) {
      expect(errorOf(await post(exchange, acme, `${acme.certificate}:revoke`, body))).toMatch(
        /^400 .* revocationState$/,
      );
    }
  });
});

it('validateOnly checks registering, revoking and releasing a certificate without changing anything', async () => {
  const name = await created(acme);
  const held = await created(acme);
  await ok(revoke(acme, held, 'HOLD'));
  await eventually(async () => {
    const [row] = await exchange.database.query('SELECT count(*)::int AS n FROM revocation_cascades');
    return { status: row!.n === 0 ? 200 : 503 } as Reply;
  });
  const before = await stored(exchange);
  const dry = (path: string, body?: object) => post(exchange, acme, `${path}?validateOnly=true`, body);
  const { x509Der } = await newCertificate();
  const validated = [
    await dry(`${acme.name}/certificates`, { x509Der }),
    await dry(`${name}:revoke`, { revocationState: 'REVOKED' }),
    await dry(`${held}:releaseHold`),
  ];
  for (const reply of validated) {
    expect(await ok(reply)).toMatchObject({ findings: [] });
    expect(reply.json).not.toHaveProperty('name');
  }
  expect(validated.map((reply) => reply.json.revocationState)).toEqual([undefined, 'REVOKED', undefined]);
  expect(errorOf(await dry(`${name}:releaseHold`))).toMatch('CERTIFICATE_REVOCATION_STATE_ILLEGAL');
  const same = await dry(`${acme.name}/certificates`, { x509Der: (await get(exchange, acme, name)).x509Der });
  expect(errorOf(same)).toMatch('CERTIFICATE_ALREADY_EXISTS');
  expect(await stored(exchange)).toEqual(before);
});

async function derOf(certificate: Promise<{ x509Der: string }>): Promise<{ x509Der: string }> {
  return { x509Der: (await certificate).x509Der };
}
