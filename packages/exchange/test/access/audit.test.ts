/**
 * Tests that the audit log has one entry for every change that the transition log does not record, and no entry for a
 * `validateOnly` request.
 */

import { createRoot } from '@measurement-exchange/sdk/identity';
import { newCertificate } from '@measurement-exchange/testkit/certificates';
import { type DevParty, type Reply, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { asOperator, issuerOf, listAll } from '@measurement-exchange/testkit/operator';
import { castOf, errorOf, metadata, ok, stored } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

type Json = Reply['json'];
let acme: DevParty;
let streamly: DevParty;

const exchange = useExchange({ rate: UNLIMITED });
beforeAll(() => {
  ({ acme, streamly } = castOf(exchange));
});

const operator = (method: string, path: string, body?: unknown) => asOperator(exchange, method, path, body);

/**
 * Waits until the list at `path` has at least `count` audit entries, and returns the list. The wait is necessary,
 * because an entry appears only after all earlier transactions on the server have ended, including those of other
 * tests.
 */
async function entries(path: string, count: number): Promise<Json[]> {
  const seen = async () => (await listAll(exchange, path)).length;
  await expect.poll(seen, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
  return listAll(exchange, path);
}

/**
 * Runs one mutation of each kind, and returns the names of the resources. `run` gets the method, the path, the body,
 * and the caller's token. Later mutations use the names of resources that earlier mutations created. A dry run creates
 * nothing, so it uses the names of existing resources or skips these mutations.
 */
async function mutations(
  run: (method: string, path: string, body?: unknown, token?: string) => Promise<Json>,
) {
  const { certificatePem: x509Pem } = await createRoot('root', Date.now());
  const { x509Der } = await newCertificate();
  const party = (await run('POST', 'dataProviders', { displayName: 'New' })).name ?? streamly.name;
  await run('PATCH', acme.name, { displayName: 'Acme' }, acme.token);
  await run('POST', `${party}:suspend`);
  await run('POST', `${party}:resume`);
  const certificate = (await run('POST', `${party}/certificates`, { x509Der })).name ?? streamly.certificate;
  await run('POST', `${certificate}:revoke`, { revocationState: 'REVOKED' });
  const binding = { issuer: issuerOf(exchange), subject: 'somebody', resource: party };
  const principal = (await run('POST', 'principals', binding)).name;
  if (principal !== undefined) await run('DELETE', principal);
  const root = (await run('POST', 'trustedRoots', { x509Pem, party: acme.name })).name;
  if (root !== undefined) await run('DELETE', root);
  const vidRanges = [{ start: 1, end: 9 }];
  const population = (await run('POST', 'populations', { vidRanges })).name;
  if (population !== undefined) await run('PATCH', population, { default: true });
  return { party, certificate, principal, root, population };
}

describe('the audit log', () => {
  it('lists the principal, operation and resource of each change, in order and without duplicates', async () => {
    const requestIds: string[] = [];
    const made = await mutations(async (method, path, body, token = exchange.dev.operator.token) => {
      const reply = await exchange.call(token, method, `/v2alpha/${path}`, body);
      requestIds.push(reply.headers.get('x-request-id')!);
      return ok(reply);
    });
    const expected = [
      ['operator', 'createParty', made.party],
      [acme.name, 'updateParty', acme.name],
      ['operator', 'suspendParty', made.party],
      ['operator', 'resumeParty', made.party],
      ['operator', 'createCertificate', made.certificate],
      ['operator', 'revokeCertificate', made.certificate],
      ['operator', 'createPrincipal', made.principal],
      ['operator', 'deletePrincipal', made.principal],
      ['operator', 'createTrustedRoot', made.root],
      ['operator', 'deleteTrustedRoot', made.root],
      ['operator', 'createPopulation', made.population],
      ['operator', 'updatePopulation', made.population],
    ];
    const told = await entries('auditEntries', expected.length);
    expect(told).toEqual(
      expected.map(([principal, operation, name], i) => ({
        time: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/),
        ...{ principal, operation, name, outcome: 'OK', requestId: requestIds[i] },
      })),
    );
    const ofParty = await listAll(exchange, `auditEntries?filter.name=${made.party}`, { pageSize: 2 });
    expect(ofParty).toEqual(told.filter(({ name }) => name === made.party));
    expect(ofParty).toHaveLength(3);
    const latest = 'auditEntries?orderBy=time%20desc';
    expect(await listAll(exchange, latest, { pageSize: 5 })).toEqual(told.toReversed());
    expect(await listAll(exchange, `${latest}&filter.name=${made.party}`)).toEqual(ofParty.toReversed());
    expect(await listAll(exchange, 'auditEntries?filter.name=dataProviders/nobody')).toEqual([]);
  });

  it('has no entry for a request that was rejected or changed nothing', async () => {
    const before = await entries('auditEntries', 12);
    await ok(operator('POST', `${streamly.name}:resume`));
    for (const reply of [
      await operator('POST', `dataProviders?dataProviderId=${streamly.name.split('/')[1]}`, {}),
      await operator('PATCH', 'duchies/nobody', {}),
      await operator('PATCH', streamly.name, { displayName: 7 }),
      await operator('DELETE', 'principals/nobody'),
      await exchange.call(acme.token, 'POST', `/v2alpha/${streamly.name}:suspend`),
    ]) {
      expect(errorOf(reply)).toMatch(/^4/);
    }
    expect(await listAll(exchange, 'auditEntries')).toEqual(before);
  });

  it('can be read page by page without missing entries that are written concurrently', async () => {
    const { name } = await ok(operator('POST', 'duchies?duchyId=followed', {}));
    const start = (await entries(`auditEntries?filter.name=${name}`, 1)).length;
    let writing = true;
    const requestIds: string[] = [];
    const writers = Promise.all(
      Array.from({ length: 6 }, async (_, writer) => {
        for (let i = 0; i < 30; i++) {
          // Two writers change the same resource and wait for each other. The others create their own resources and do
          // not wait.
          const reply = await (writer < 2
            ? operator('PATCH', name, { displayName: `${writer} ${i}` })
            : operator('POST', `duchies?duchyId=d${writer}-${i}`, {}));
          await ok(reply);
          requestIds.push(reply.headers.get('x-request-id')!);
        }
      }),
    ).finally(() => {
      writing = false;
    });

    const seen: string[] = [];
    let cursor = '';
    let rest = 0;
    for (let idle = 0; idle < 300; ) {
      const page = await ok(operator('GET', `auditEntries?pageSize=5${cursor}`));
      const ids = page.auditEntries.map((entry: Json) => entry.requestId);
      if (page.nextPageToken !== undefined) {
        seen.push(...ids);
        cursor = `&pageToken=${page.nextPageToken}`;
        continue;
      }
      // Read the last page again from its beginning, because the exchange still appends entries to this page.
      rest = ids.length;
      if (!writing) {
        if (requestIds.every((id) => seen.includes(id) || ids.includes(id))) {
          seen.push(...ids);
          break;
        }
        idle++;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    await writers;
    expect(rest).toBeGreaterThan(0);
    expect(new Set(seen).size).toBe(seen.length);
    expect(requestIds).toHaveLength(180);
    expect(seen).toEqual(expect.arrayContaining(requestIds));
    expect(await entries(`auditEntries?filter.name=${name}`, start + 60)).toHaveLength(start + 60);
  });

  it('rejects a page token with another filter', async () => {
    const { nextPageToken } = await ok(operator('GET', 'auditEntries?pageSize=1'));
    const other = await operator('GET', `auditEntries?filter.name=${acme.name}&pageToken=${nextPageToken}`);
    expect(errorOf(other)).toBe('400 INVALID_ARGUMENT INVALID_PAGE_TOKEN pageToken');
  });
});

describe('a dry run', () => {
  it('of each mutation returns the resulting resource, and changes nothing', async () => {
    const principal = { issuer: issuerOf(exchange), subject: 'dry', resource: acme.name };
    const bound = await ok(operator('POST', 'principals', principal));
    const { certificatePem: x509Pem } = await createRoot('root', Date.now());
    const root = await ok(operator('POST', 'trustedRoots', { x509Pem, party: streamly.name }));
    const population = await ok(operator('POST', 'populations', { vidRanges: [{ start: 1, end: 9 }] }));
    const before = await stored(exchange);
    const replies: Json[] = [];
    const dry = async (method: string, path: string, body?: unknown, token = exchange.dev.operator.token) => {
      const reply = await ok(exchange.call(token, method, `/v2alpha/${path}?validateOnly=true`, body));
      replies.push(reply);
      return reply;
    };
    await mutations(dry);
    await dry('PATCH', population.name, { default: true });
    await dry('DELETE', bound.name);
    await dry('DELETE', root.name);
    expect(await stored(exchange)).toEqual(before);

    expect(replies).toHaveLength(12);
    for (const reply of replies) {
      expect(reply.findings).toBeInstanceOf(Array);
      for (const field of ['name', 'createTime', 'updateTime']) expect(reply).not.toHaveProperty(field);
    }
    const [created, updated, suspended, resumed] = replies;
    expect(created).toEqual({ displayName: 'New', state: 'ACTIVE', capabilities: {}, findings: [] });
    expect(updated).toMatchObject({ displayName: 'Acme', state: 'ACTIVE', certificate: acme.certificate });
    expect([suspended.state, resumed.state]).toEqual(['SUSPENDED', 'ACTIVE']);
    expect(replies.at(-2)).toEqual({ ...principal, findings: [] });
    expect(replies.at(-1)).toMatchObject({ party: streamly.name, x509Der: root.x509Der });
    await ok(operator('DELETE', root.name));
  });

  it('fails with the error of the mutation', async () => {
    const run = async (method: string, path: string, body?: unknown) =>
      operator(method, `${path}${path.includes('?') ? '&' : '?'}validateOnly=true`, body);
    const taken = await run(
      'POST',
      `measurementConsumers?measurementConsumerId=${acme.name.split('/')[1]}`,
      {},
    );
    expect(metadata(taken)).toEqual({ existing: acme.name });
    for (const [reply, expected] of [
      [taken, '409 ALREADY_EXISTS PARTY_ALREADY_EXISTS'],
      [await run('PATCH', 'duchies/nobody', {}), '404 NOT_FOUND DUCHY_NOT_FOUND'],
      [await run('POST', 'duchies/nobody:suspend'), '404 NOT_FOUND DUCHY_NOT_FOUND'],
      [await run('DELETE', 'principals/nobody'), '404 NOT_FOUND PRINCIPAL_NOT_FOUND'],
      [await run('DELETE', 'trustedRoots/nobody'), '404 NOT_FOUND TRUSTED_ROOT_NOT_FOUND'],
      [
        await run('POST', 'principals', {
          issuer: issuerOf(exchange),
          subject: 'dry',
          resource: streamly.name,
        }),
        '409 ALREADY_EXISTS PRINCIPAL_ALREADY_EXISTS',
      ],
    ] as const) {
      expect(errorOf(reply)).toBe(expected);
    }
  });
});
