import { toBase64 } from '@measurement-exchange/contract';
import {
  createEncryptionKeysets,
  createRoot,
  issueLeaf,
  signEncryptionKey,
} from '@measurement-exchange/sdk/identity';
import {
  type DevParty,
  type Reply,
  startExchange,
  type TestExchange,
  UNLIMITED,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import { type Issued, leaf, root } from '@measurement-exchange/testkit/issuing';
import { asOperator, issuerOf, listAll, tokenOf } from '@measurement-exchange/testkit/operator';
import { castOf, errorOf, get, metadata, ok, TIMESTAMP } from '@measurement-exchange/testkit/steps';
import { PemConverter } from '@peculiar/x509';
import { beforeAll, describe, expect, it } from 'vitest';

type Json = Reply['json'];
const KINDS = [
  ['measurementConsumer', 'measurementConsumers', 'MEASUREMENT_CONSUMER_NOT_FOUND'],
  ['dataProvider', 'dataProviders', 'DATA_PROVIDER_NOT_FOUND'],
  ['duchy', 'duchies', 'DUCHY_NOT_FOUND'],
] as const;

let acme: DevParty;
let streamly: DevParty;
let chirper: DevParty;
let dailynews: DevParty;

const exchange = useExchange({ rate: UNLIMITED });
beforeAll(() => {
  ({ acme, streamly, chirper, dailynews } = castOf(exchange));
});

const operator = (method: string, path: string, body?: unknown) => asOperator(exchange, method, path, body);
const read = (name: string) => ok(operator('GET', name));

async function signedKey(party: { privateKeyPem: string }) {
  const { message, signature, signatureAlgorithm } = await signEncryptionKey(
    (await createEncryptionKeysets()).publicKeyset,
    party.privateKeyPem,
  );
  return { message: toBase64(message), signature: toBase64(signature), signatureAlgorithm };
}

async function keySignedWith({ keys }: Issued) {
  const privateKeyPem = PemConverter.encode(
    await crypto.subtle.exportKey('pkcs8', keys.privateKey),
    'PRIVATE KEY',
  );
  return signedKey({ privateKeyPem });
}

describe.each(KINDS)('a %s', (kind, collection, notFound) => {
  const ofProvider = kind === 'dataProvider' ? { capabilities: {} } : {};

  it('is created under a chosen ID or under an assigned ID', async () => {
    const chosen = await ok(
      operator('POST', `${collection}?${kind}Id=the-Chosen_1`, { displayName: 'Chosen' }),
    );
    const times = { createTime: expect.stringMatching(TIMESTAMP), updateTime: chosen.createTime };
    const party = { displayName: 'Chosen', state: 'ACTIVE', ...ofProvider, ...times };
    expect(chosen).toEqual({ name: `${collection}/the-Chosen_1`, ...party });
    const assigned = await ok(operator('POST', collection, { [kind]: {} }));
    expect(assigned.name).toMatch(new RegExp(`^${collection}/[a-z][a-z0-9]{13}$`));
    expect(assigned).toMatchObject({ displayName: '', state: 'ACTIVE' });
    for (const made of [chosen, assigned]) {
      expect(await read(made.name)).toEqual(made);
      expect(await listAll(exchange, collection)).toContainEqual(made);
    }
  });

  it('is created once by concurrent creates with the same ID', async () => {
    const path = `${collection}?${kind}Id=once`;
    const replies = await Promise.all(Array.from({ length: 8 }, () => operator('POST', path, {})));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
    const refused = replies.find(({ status }) => status === 409)!;
    expect(errorOf(refused)).toBe('409 ALREADY_EXISTS PARTY_ALREADY_EXISTS');
    expect(metadata(refused)).toEqual({ existing: `${collection}/once` });
  });

  it('rejects an invalid ID, and the ID parameter of another kind', async () => {
    for (const id of ['-', 'preferred', 'a.b', 'a%2Fb', 'x'.repeat(64), 'ü']) {
      const reply = await operator('POST', `${collection}?${kind}Id=${id}`, {});
      expect(errorOf(reply)).toBe(`400 INVALID_ARGUMENT INVALID_FIELD_VALUE ${kind}Id`);
    }
    const other = kind === 'duchy' ? 'dataProvider' : 'duchy';
    const reply = await operator('POST', `${collection}?${other}Id=x`, {});
    expect(errorOf(reply)).toBe(`400 INVALID_ARGUMENT INVALID_FIELD_VALUE ${other}Id`);
  });

  it('that does not exist is NOT_FOUND, with its name', async () => {
    const name = `${collection}/nobody`;
    for (const reply of [
      await operator('GET', name),
      await operator('PATCH', name, { displayName: 'x' }),
      await operator('POST', `${name}:suspend`),
      await operator('POST', `${name}:resume`, {}),
    ]) {
      expect(errorOf(reply)).toBe(`404 NOT_FOUND ${notFound}`);
      expect(metadata(reply)).toEqual({ [kind]: name });
    }
  });

  it('is updated field by field: absent fields are unchanged', async () => {
    const { name, ...made } = await ok(operator('POST', collection, { displayName: 'First' }));
    const publicKey = await signedKey(acme);
    const changes: [string, object][] = [
      ['displayName', { displayName: 'Second' }],
      ['publicKey', { publicKey }],
      ['displayName', { [kind]: { displayName: '' } }],
    ];
    if (kind === 'dataProvider') {
      const interval = { startTime: '2026-01-01T00:00:00.000000Z', endTime: '2026-02-01T00:00:00.000000Z' };
      changes.push(
        ['capabilities', { capabilities: { liquidLegionsV2Supported: true } }],
        ['capabilities', { capabilities: { honestMajorityShareShuffleSupported: true } }],
        ['dataAvailabilityInterval', { dataAvailabilityInterval: interval }],
        ['dataAvailabilityInterval', { dataAvailabilityInterval: { startTime: interval.endTime } }],
        ['capabilities', { capabilities: { liquidLegionsV2Supported: false } }],
      );
    }
    if (kind === 'duchy') {
      changes.push(
        ['endpoint', { endpoint: 'http://127.0.0.1:9001' }],
        ['endpoint', { endpoint: 'https://duchy.example.com' }],
      );
    }
    let expected: Json = { name, ...made };
    for (const [field, body] of changes) {
      const after = await ok(operator('PATCH', name, body));
      const given = (body as Json)[kind]?.[field] ?? (body as Json)[field];
      const stored =
        field === 'capabilities' ? Object.fromEntries(Object.entries(given).filter(([, v]) => v)) : given;
      expected = { ...expected, [field]: stored, updateTime: after.updateTime };
      expect(after).toEqual(expected);
      expect(after.updateTime > made.createTime).toBe(true);
      expect(await read(name)).toEqual(expected);
    }
    // A client is allowed to send back a party that it read, including output-only fields.
    const again = await ok(
      operator('PATCH', name, { ...expected, state: 'SUSPENDED', createTime: 'ignored?' }),
    );
    expect(again).toEqual({ ...expected, updateTime: again.updateTime });
  });
});

describe('an update', () => {
  const patch = (body: object, party = streamly) =>
    exchange.call(party.token, 'PATCH', `/v2alpha/${party.name}`, body);

  it('is allowed for the party itself, and denied to other parties', async () => {
    expect((await ok(patch({ displayName: 'Streamly' }))).displayName).toBe('Streamly');
    for (const [party, name] of [
      [streamly, chirper.name],
      [acme, streamly.name],
      [chirper, acme.name],
    ] as const) {
      const reply = await exchange.call(party.token, 'PATCH', `/v2alpha/${name}`, { displayName: 'x' });
      expect(errorOf(reply)).toBe('403 PERMISSION_DENIED PERMISSION_DENIED');
    }
  });

  it('rejects an invalid field and names it', async () => {
    const interval = (startTime: string, endTime: string) => ({
      dataAvailabilityInterval: { startTime, endTime },
    });
    for (const [body, field] of [
      [{ displayName: 'x'.repeat(256) }, 'displayName'],
      [{ displayName: 3 }, 'displayName'],
      [{ title: 'x' }, 'title'],
      [{ capabilities: { liquidLegionsV2Supported: 'yes' } }, 'capabilities.liquidLegionsV2Supported'],
      [{ capabilities: { magicSupported: true } }, 'capabilities.magicSupported'],
      [interval('2026-02-01T00:00:00Z', '2026-02-01T00:00:00Z'), 'dataAvailabilityInterval.endTime'],
      [interval('2026-02-01T01:00:00+02:00', '2026-01-31T22:59:00Z'), 'dataAvailabilityInterval.endTime'],
      [{ publicKey: { ...(await signedKey(streamly)), message: 'AAAA' } }, 'publicKey.message'],
      [{ publicKey: { ...(await signedKey(streamly)), message: '' } }, 'publicKey.message'],
    ] as const) {
      const reply = errorOf(await patch(body));
      expect(reply).toMatch(/^400 INVALID_ARGUMENT (INVALID_FIELD_VALUE|REQUIRED_FIELD_NOT_SET) /);
      expect(reply.split(' ').at(-1)).toBe(field);
    }
    const foreign = await patch({ capabilities: {} }, acme);
    expect(errorOf(foreign)).toBe('400 INVALID_ARGUMENT INVALID_FIELD_VALUE capabilities');
    for (const party of [acme, streamly]) {
      const reached = await patch({ endpoint: 'https://example.com' }, party);
      expect(errorOf(reached)).toBe('400 INVALID_ARGUMENT INVALID_FIELD_VALUE endpoint');
    }
  });

  it('of the endpoint is allowed for the duchy itself, and data providers can read it', async () => {
    const { name } = await ok(operator('POST', 'duchies?duchyId=reached', {}));
    const binding = { issuer: issuerOf(exchange), subject: 'reached', resource: name };
    await ok(operator('POST', 'principals', binding));
    const duchy = { ...streamly, name, token: await tokenOf(exchange, 'reached') };
    const endpoint = 'https://reached.example.com:8443';
    expect((await ok(patch({ endpoint: `${endpoint}/` }, duchy))).endpoint).toBe(endpoint);
    expect((await get(exchange, streamly, name)).endpoint).toBe(endpoint);
    for (const wrong of ['', 'reached.example.com', `${endpoint}/v2`, 'https://a:b@reached.example.com']) {
      const reply = await patch({ endpoint: wrong }, duchy);
      expect(errorOf(reply)).toBe('400 INVALID_ARGUMENT INVALID_FIELD_VALUE endpoint');
    }
    const denied = await exchange.call(acme.token, 'GET', `/v2alpha/${name}`);
    expect(errorOf(denied)).toBe('403 PERMISSION_DENIED PERMISSION_DENIED');
  });

  it('is not lost among concurrent updates', async () => {
    const before = await read(dailynews.name);
    await Promise.all([
      ...Array.from({ length: 10 }, (_, i) => ok(patch({ displayName: `News ${i}` }, dailynews))),
      ok(patch({ capabilities: { liquidLegionsV2Supported: true } }, dailynews)),
    ]);
    const after = await read(dailynews.name);
    expect(after).toMatchObject({ capabilities: { liquidLegionsV2Supported: true } });
    expect(after.displayName).toMatch(/^News \d$/);
    expect(after.publicKey).toEqual(before.publicKey);
    const [row] = await exchange.database.query('SELECT version FROM parties WHERE name = $1', [
      dailynews.name,
    ]);
    expect(row).toEqual({ version: 12 });
  });
});

describe('the public key of a party', () => {
  const patch = (exchange: TestExchange, party: DevParty, publicKey: object) =>
    exchange.call(party.token, 'PATCH', `/v2alpha/${party.name}`, { publicKey });
  const signer = async (party: DevParty) => {
    const rows = await exchange.database.query(
      'SELECT public_key_certificate AS id FROM parties WHERE name = $1',
      [party.name],
    );
    return rows[0]!.id && `${party.name}/certificates/${rows[0]!.id}`;
  };

  it('is accepted without findings if a usable certificate of the party signed it', async () => {
    const reply = await patch(exchange, chirper, await signedKey(chirper));
    expect(reply.headers.get('x-mex-findings')).toBeNull();
    expect((await ok(reply)).certificate).toBe(chirper.certificate);
    expect(await signer(chirper)).toBe(chirper.certificate);
  });

  it('is a finding if another key signed it, and is rejected under strict checks', async () => {
    const forged = await signedKey(streamly);
    const advised = await patch(exchange, chirper, forged);
    expect(advised.headers.get('x-mex-findings')).toBe('1');
    expect((await ok(advised)).publicKey).toEqual(forged);
    expect(await signer(chirper)).toBeNull();
    const strict = await startExchange({ checks: 'strict' });
    try {
      const cast = castOf(strict);
      await ok(patch(strict, cast.chirper, await signedKey(cast.chirper)));
      const refused = await patch(strict, cast.chirper, await signedKey(cast.streamly));
      expect(errorOf(refused)).toBe('400 INVALID_ARGUMENT CHECK_FAILED publicKey.signature');
      // The key of a new party has no valid signature, because the party has no certificate yet.
      const create = await asOperator(strict, 'POST', 'dataProviders', {
        publicKey: await signedKey(cast.chirper),
      });
      expect(errorOf(create)).toBe('400 INVALID_ARGUMENT CHECK_FAILED publicKey.signature');
    } finally {
      expect(await strict.stop()).toEqual([]);
    }
    await ok(patch(exchange, chirper, await signedKey(chirper)));
  });

  it('is bound to the certificate that signed it, even if that is registered after the key', async () => {
    const issuer = await root('CN=root');
    const own = await leaf(issuer);
    const { name, updateTime } = await ok(
      operator('POST', 'dataProviders', { publicKey: await keySignedWith(own) }),
    );
    const send = async ({ der }: Issued, query = '') =>
      (await ok(operator('POST', `${name}/certificates${query}`, { x509Der: toBase64(der) }))).name;

    await send(await leaf(issuer));
    await send(await leaf(issuer, { keys: own.keys, from: 18, until: 19 }));
    await send(own, '?validateOnly=true');
    expect((await read(name)).updateTime).toBe(updateTime);

    const signer = await send(own);
    const bound = await read(name);
    expect(bound.certificate).toBe(signer);
    expect(bound.updateTime > updateTime).toBe(true);
    await send(await leaf(issuer, { keys: own.keys, until: 20 }));
    expect(await read(name)).toEqual(bound);
    const entries = await exchange.database.query(
      'SELECT version, operation FROM audit_entries WHERE name = $1 ORDER BY seq',
      [name],
    );
    expect(entries).toEqual([
      { version: 1, operation: 'createParty' },
      { version: 2, operation: 'createCertificate' },
    ]);
  });

  it('is bound to the certificate that signed it, even if both are sent concurrently', async () => {
    const issuer = await root('CN=root');
    for (let i = 0; i < 10; i++) {
      const { name } = await ok(operator('POST', 'dataProviders', {}));
      const own = await leaf(issuer);
      const publicKey = await keySignedWith(own);
      const [registered] = await Promise.all([
        ok(operator('POST', `${name}/certificates`, { x509Der: toBase64(own.der) })),
        ok(operator('PATCH', name, { publicKey })),
      ]);
      const longer = await leaf(issuer, { until: 20 });
      await ok(operator('POST', `${name}/certificates`, { x509Der: toBase64(longer.der) }));
      expect((await read(name)).certificate).toBe(registered.name);
    }
  });

  it('is a finding if the certificate that signed it was revoked', async () => {
    const { name } = await ok(operator('POST', 'dataProviders', {}));
    const leaf = await issueLeaf(await createRoot('root', Date.now()), 'leaf', Date.now());
    const registered = await ok(operator('POST', `${name}/certificates`, { x509Der: toBase64(leaf.der) }));
    const publicKey = await signedKey({ ...streamly, ...leaf });
    const findings = async () => (await operator('PATCH', name, { publicKey })).headers.get('x-mex-findings');
    expect(await findings()).toBeNull();
    expect((await read(name)).certificate).toBe(registered.name);
    await ok(operator('POST', `${registered.name}:revoke`, { revocationState: 'REVOKED' }));
    expect(await findings()).toBe('1');
  });
});
