/** Tests bindings of principals to parties, and trusted roots. Only the operator may change them. */
import 'reflect-metadata'; // @peculiar/x509 does not load without this import
import { X509Certificate } from 'node:crypto';
import { toBase64 } from '@measurement-exchange/contract';
import { createRoot, issueLeaf } from '@measurement-exchange/sdk/identity';
import { newCertificate } from '@measurement-exchange/testkit/certificates';
import { type DevParty, type Reply, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { asOperator, issuerOf, listAll, tokenOf } from '@measurement-exchange/testkit/operator';
import { castOf, errorOf, metadata, ok, TIMESTAMP } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

type Json = Reply['json'];
let acme: DevParty;
let streamly: DevParty;

const exchange = useExchange({ rate: UNLIMITED });
beforeAll(() => {
  ({ acme, streamly } = castOf(exchange));
});

const operator = (method: string, path: string, body?: unknown) => asOperator(exchange, method, path, body);
const namesOf = (items: Json[]) => items.map(({ name }) => name);

describe('a principal', () => {
  const bind = (subject: string, resource: string) =>
    operator('POST', 'principals', { issuer: issuerOf(exchange), subject, resource });
  const whoAmI = async (subject: string) =>
    exchange.call(await tokenOf(exchange, subject), 'GET', '/v2alpha/whoami');

  it('is bound and unbound with immediate effect', async () => {
    for (const resource of [acme.name, streamly.name, 'operator']) {
      const subject = `somebody at ${resource}`;
      expect(errorOf(await whoAmI(subject))).toBe('403 PERMISSION_DENIED PRINCIPAL_UNKNOWN');
      const bound = await ok(bind(subject, resource));
      expect(bound).toEqual({
        name: expect.stringMatching(/^principals\/[a-z][a-z0-9]{13}$/),
        ...{ issuer: issuerOf(exchange), subject, resource },
        createTime: expect.stringMatching(TIMESTAMP),
      });
      expect((await ok(whoAmI(subject))).principal).toBe(resource);
      const listed = await exchange.call(await tokenOf(exchange, subject), 'GET', '/v2alpha/principals');
      expect(listed.status).toBe(resource === 'operator' ? 200 : 403);
      expect(await ok(operator('DELETE', bound.name))).toEqual(bound);
      expect(errorOf(await whoAmI(subject))).toBe('403 PERMISSION_DENIED PRINCIPAL_UNKNOWN');
      const again = await operator('DELETE', bound.name);
      expect(errorOf(again)).toBe('404 NOT_FOUND PRINCIPAL_NOT_FOUND');
      expect(metadata(again)).toEqual({ principal: bound.name });
    }
  });

  it('can have only one binding: a second one is rejected with the name of the first', async () => {
    const replies = await Promise.all([acme, streamly, acme, streamly].map(({ name }) => bind('torn', name)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const { name, resource } = await ok(replies.find(({ status }) => status === 200)!);
    for (const refused of replies.filter(({ status }) => status === 409)) {
      expect(errorOf(refused)).toBe('409 ALREADY_EXISTS PRINCIPAL_ALREADY_EXISTS');
      expect(metadata(refused)).toEqual({ existing: name, resource });
    }
    // The same subject at another issuer is a different principal.
    const other = { issuer: 'https://other.example', subject: 'torn', resource: acme.name };
    await ok(operator('POST', 'principals', { principal: other }));
  });

  it('can be bound only to an existing party or to the operator', async () => {
    const absent = await bind('lost', 'duchies/nobody');
    expect(errorOf(absent)).toBe('404 NOT_FOUND DUCHY_NOT_FOUND');
    expect(metadata(absent)).toEqual({ duchy: 'duchies/nobody' });
    for (const resource of [
      'root',
      'operators',
      `${acme.name}/certificates/x`,
      'dataProviders/-',
      'dataProviders/a.b',
    ]) {
      expect(errorOf(await bind('lost', resource))).toBe('400 INVALID_ARGUMENT INVALID_FIELD_VALUE resource');
    }
    const empty = await operator('POST', 'principals', {});
    expect(errorOf(empty)).toBe('400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET issuer subject resource');
    const long = { issuer: 'x'.repeat(1001), subject: 'x'.repeat(256), resource: acme.name };
    expect(errorOf(await operator('POST', 'principals', long))).toMatch(/ issuer subject$/);
  });

  it('is listed in pages, and can be filtered by its resource', async () => {
    const bound: string[] = [];
    for (let i = 0; i < 9; i++) bound.push((await ok(bind(`of streamly ${i}`, streamly.name))).name);
    const filter = `principals?filter.resource=${streamly.name}`;
    const listed = await listAll(exchange, filter, { pageSize: 4 });
    expect(listed.every(({ resource }) => resource === streamly.name)).toBe(true);
    expect(namesOf(listed).filter((name) => bound.includes(name))).toEqual(bound);
    const all = namesOf(await listAll(exchange, 'principals'));
    expect(all).toEqual(expect.arrayContaining(bound));
    expect(all.length).toBeGreaterThan(listed.length);
    expect(await listAll(exchange, 'principals?filter.resource=duchies/nobody')).toEqual([]);
    const { nextPageToken } = await ok(operator('GET', `${filter}&pageSize=1`));
    const other = await operator('GET', `principals?pageToken=${nextPageToken}`);
    expect(errorOf(other)).toBe('400 INVALID_ARGUMENT INVALID_PAGE_TOKEN pageToken');
  });
});

describe('a trusted root', () => {
  const rootOf = async () => {
    const { certificatePem: x509Pem, privateKeyPem } = await createRoot('A root', Date.now());
    const parsed = new X509Certificate(x509Pem);
    return { x509Pem, x509Der: parsed.raw.toString('base64'), parsed, privateKeyPem };
  };

  it('can be added as PEM or as DER, for one party or for all, and be deleted', async () => {
    for (const [form, party] of [
      ['x509Pem', undefined],
      ['x509Der', acme.name],
      ['x509Pem', streamly.name],
    ] as const) {
      const root = await rootOf();
      const added = await ok(
        operator('POST', 'trustedRoots', { [form]: root[form], ...(party && { party }) }),
      );
      expect(added).toEqual({
        name: expect.stringMatching(/^trustedRoots\/[a-z][a-z0-9]{13}$/),
        ...(party && { party }),
        x509Der: root.x509Der,
        subjectKeyIdentifier: expect.stringMatching(/^[\w+/]{27}=$/),
        notBefore: new Date(root.parsed.validFrom).toISOString().replace('Z', '000Z'),
        notAfter: new Date(root.parsed.validTo).toISOString().replace('Z', '000Z'),
        createTime: expect.stringMatching(TIMESTAMP),
      });
      expect(await listAll(exchange, 'trustedRoots', { pageSize: 1 })).toContainEqual(added);
      expect(await ok(operator('DELETE', added.name))).toEqual(added);
      expect(await listAll(exchange, 'trustedRoots')).toEqual([]);
      const again = await operator('DELETE', added.name);
      expect(errorOf(again)).toBe('404 NOT_FOUND TRUSTED_ROOT_NOT_FOUND');
      expect(metadata(again)).toEqual({ trustedRoot: added.name });
    }
  });

  it('must be a self-signed CA certificate', async () => {
    const root = await rootOf();
    const leaf = await issueLeaf(
      { certificatePem: root.x509Pem, privateKeyPem: root.privateKeyPem },
      'x',
      Date.now(),
    );
    const selfSignedLeaf = await newCertificate();
    // Change the last byte, which belongs to the signature.
    const forged = Buffer.from(root.x509Der, 'base64');
    forged[forged.length - 1]! ^= 1;
    for (const [body, field] of [
      [{ x509Der: toBase64(leaf.der) }, 'x509Der'],
      [{ x509Der: selfSignedLeaf.x509Der }, 'x509Der'],
      [{ x509Pem: selfSignedLeaf.x509Pem }, 'x509Pem'],
      [{ x509Der: toBase64(forged) }, 'x509Der'],
      [{ x509Der: 'AAAA' }, 'x509Der'],
      [{}, 'x509Der'],
      [{ x509Der: root.x509Der, x509Pem: root.x509Pem }, 'x509Der'],
      [{ x509Der: root.x509Der, party: 'operator' }, 'party'],
    ] as const) {
      const reply = errorOf(await operator('POST', 'trustedRoots', body));
      expect(reply).toBe(`400 INVALID_ARGUMENT INVALID_FIELD_VALUE ${field}`);
    }
    const absent = { x509Der: root.x509Der, party: 'duchies/nobody' };
    expect(errorOf(await operator('POST', 'trustedRoots', absent))).toBe('404 NOT_FOUND DUCHY_NOT_FOUND');
    expect(await listAll(exchange, 'trustedRoots')).toEqual([]);
  });

  it('can be added once for each party, and once for all', async () => {
    const { x509Der, x509Pem } = await rootOf();
    const names: string[] = [];
    for (const party of [undefined, acme.name, streamly.name]) {
      const { name } = await ok(operator('POST', 'trustedRoots', { x509Der, ...(party && { party }) }));
      names.push(name);
      const again = await operator('POST', 'trustedRoots', { x509Pem, ...(party && { party }) });
      expect(errorOf(again)).toBe('409 ALREADY_EXISTS TRUSTED_ROOT_ALREADY_EXISTS');
      expect(metadata(again)).toEqual({ existing: name });
    }
    expect(namesOf(await listAll(exchange, 'trustedRoots', { pageSize: 2 }))).toEqual(names);
    for (const name of names) await ok(operator('DELETE', name));
  });
});

it('principals, trusted roots and audit entries are denied to parties', async () => {
  for (const { token } of [acme, streamly]) {
    for (const [method, path] of [
      ...['principals', 'trustedRoots'].flatMap((list) => [
        ['GET', list],
        ['POST', list],
        ['DELETE', `${list}/x`],
      ]),
      ['GET', 'auditEntries'],
    ] as [string, string][]) {
      const reply = await exchange.call(
        token,
        method,
        `/v2alpha/${path}`,
        method === 'POST' ? {} : undefined,
      );
      expect(errorOf(reply)).toBe('403 PERMISSION_DENIED PERMISSION_DENIED');
    }
  }
});
