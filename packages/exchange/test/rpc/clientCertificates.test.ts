/**
 * Tests client certificates and API keys over TLS: which party they identify, and that every failure gets the same
 * error message.
 */
import { KeyObject } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  ErrorInfoSchema,
  Measurements,
  RequestInfoSchema,
  Requisitions,
} from '@measurement-exchange/contract/rpc';
import { UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { generateKeys, type Issued, leaf, type Options, root } from '@measurement-exchange/testkit/issuing';
import { asOperator } from '@measurement-exchange/testkit/operator';
import { clientOf, failureOf } from '@measurement-exchange/testkit/rpc';
import { castOf, ok, post } from '@measurement-exchange/testkit/steps';
import * as x509 from '@peculiar/x509';
import { beforeAll, describe, expect, it } from 'vitest';
import { createClientCertificateVerifier } from '../../src/auth/clientCertificates.ts';
import { clientCertificateLookup } from '../../src/database/clientCertificates.ts';
import { Database } from '../../src/database/db.ts';

const exchange = useExchange({ rate: UNLIMITED });
/** A validity period in years from now, long enough for the tests to pass at any time. */
const LONG = { from: -10, until: 30 };
const { digitalSignature, keyCertSign, keyAgreement } = x509.KeyUsageFlags;
const DENIED = 'permission_denied PERMISSION_DENIED';

/**
 * The root `own` is trusted for Acme alone, `shared` for Streamly and Chirper, and `general` for parties without their
 * own root.
 */
let own: Issued;
let shared: Issued;
let general: Issued;

const newRoot = (name: string, options: Partial<Options> = {}) => root(name, { ...LONG, ...options });
const newLeaf = (by: Issued, options: Partial<Options> = {}) => leaf(by, { ...LONG, ...options });

async function trust({ der }: Issued, party?: string): Promise<string> {
  const body = { x509Der: Buffer.from(der).toString('base64'), ...(party && { party }) };
  return (await ok(asOperator(exchange, 'POST', 'trustedRoots', body))).name;
}

async function registerAt(party: { name: string; token: string }, { der }: Issued): Promise<string> {
  const body = { x509Der: Buffer.from(der).toString('base64') };
  return (await ok(exchange.call(party.token, 'POST', `/v2alpha/${party.name}/certificates`, body))).name;
}

beforeAll(async () => {
  const { acme, streamly, chirper } = castOf(exchange);
  own = await newRoot('CN=Acme root');
  shared = await newRoot('CN=Root of two publishers');
  general = await newRoot('CN=Root of everybody');
  await trust(own, acme.name);
  await trust(shared, streamly.name);
  await trust(shared, chirper.name);
  await trust(general);
});

function identityOf({ pem, keys }: Issued) {
  return {
    cert: pem,
    key: KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

/** Reads, with the client certificate of `caller` and these headers, a list that only `party` is allowed to read. */
function call(caller: Issued | undefined, party: { name: string }, headers: Record<string, string> = {}) {
  const options = { identity: caller && identityOf(caller), headers };
  return party.name.startsWith('dataProviders/')
    ? clientOf(exchange.dev, Requisitions, options).listRequisitions({ parent: party.name })
    : clientOf(exchange.dev, Measurements, options).listMeasurements({ parent: party.name });
}

/**
 * Expects the error that all unacceptable credentials get. Returns the reason from the log, because the error does not
 * contain it.
 */
async function whyNot(failing: Promise<unknown>): Promise<string> {
  const error = await failing.then(() => expect.fail('The call did not fail.'), ConnectError.from);
  const [info] = error.findDetails(ErrorInfoSchema);
  const { reason, domain, metadata } = info!;
  expect({ code: error.code, text: error.rawMessage, reason, domain, metadata }).toEqual({
    code: Code.Unauthenticated,
    text: 'The credentials are missing or not acceptable.',
    reason: 'TOKEN_INVALID',
    domain: 'halo.wfanet.org',
    metadata: {},
  });
  expect(error.details).toHaveLength(2);
  const { requestId } = error.findDetails(RequestInfoSchema)[0]!;
  const lines = (await exchange.logs()).map((text) => JSON.parse(text));
  return lines.find((line) => line.requestId === requestId).why;
}

describe('a client certificate', () => {
  it('identifies the party whose root issued it, and no other party', async () => {
    const { acme, globex, streamly } = castOf(exchange);
    const caller = await newLeaf(own);
    await call(caller, acme);
    for (const other of [globex, streamly]) expect(await failureOf(call(caller, other))).toBe(DENIED);
  });

  it('identifies the party that it names if several parties share its root', async () => {
    const { streamly, chirper } = castOf(exchange);
    const caller = await newLeaf(shared, { party: chirper.name });
    await call(caller, chirper);
    expect(await failureOf(call(caller, streamly))).toBe(DENIED);
  });

  it('identifies the party that it names even if another party registered it', async () => {
    const { streamly, chirper } = castOf(exchange);
    const caller = await newLeaf(shared, { party: chirper.name });
    await registerAt(streamly, caller);
    await call(caller, chirper);
    expect(await failureOf(call(caller, streamly))).toBe(DENIED);
  });

  it('identifies the party that registered it if several parties share its root', async () => {
    const { streamly, chirper } = castOf(exchange);
    const caller = await newLeaf(shared);
    await registerAt(streamly, caller);
    await call(caller, streamly);
    expect(await failureOf(call(caller, chirper))).toBe(DENIED);
  });

  it('identifies the party that it names if its root is trusted for all parties', async () => {
    const { globex } = castOf(exchange);
    await call(await newLeaf(general, { party: globex.name }), globex);
  });

  it('identifies a demo party if it is the certificate in dev.json', async () => {
    const { acme, globex } = castOf(exchange);
    const { clientCertificatePem: cert, clientPrivateKeyPem: key } = globex;
    const client = clientOf(exchange.dev, Measurements, { identity: { cert, key } });
    await client.listMeasurements({ parent: globex.name });
    expect(await failureOf(client.listMeasurements({ parent: acme.name }))).toBe(DENIED);
  });

  it('is ignored if the request also has a token or an API key, even an invalid one', async () => {
    const { acme, globex } = castOf(exchange);
    const caller = await newLeaf(own);
    const bearer = { authorization: `Bearer ${globex.token}` };
    await call(caller, globex, bearer);
    expect(await failureOf(call(caller, acme, bearer))).toBe(DENIED);
    await whyNot(call(caller, acme, { authorization: 'Bearer x.y.z' }));
    expect(await whyNot(call(caller, acme, { 'x-api-key': 'mex_x' }))).toBe('the API key is malformed');
  });
});

describe('authentication by client certificate', () => {
  it.each<[what: string, make: () => Promise<Issued>, why: RegExp]>([
    [
      'if it has the key identifier of a root that did not issue it',
      () => ofStranger({ aki: own.ski! }),
      /no trusted root/,
    ],
    [
      'if it has the name and key identifier of a root that did not issue it',
      () => ofStranger({ aki: own.ski!, issuerName: own.name }),
      /no trusted root/,
    ],
    [
      'if it names a party and claims the root of this party, but another trusted root issued it',
      () => newLeaf(shared, { aki: own.ski!, issuerName: own.name, party: castOf(exchange).acme.name }),
      /no trusted root/,
    ],
    ['if its root is not trusted', () => ofStranger({}), /no trusted root/],
    [
      'if it has no key identifier of its issuer',
      () => newLeaf(own, { aki: 'absent' }),
      /does not name its issuer/,
    ],
    ['if it has expired', () => newLeaf(own, { until: -5 }), /expired on/],
    ['if it is not valid yet', () => newLeaf(own, { from: 20 }), /valid only from/],
    [
      'if it is self-signed',
      () => root('CN=Acme', { ...LONG, ca: false, usages: digitalSignature }),
      /no trusted root/,
    ],
    [
      'if it is self-signed with the name and key identifier of a trusted root',
      () => root(own.name, { ...LONG, ca: false, usages: digitalSignature, aki: own.ski! }),
      /no trusted root/,
    ],
    ['if it is a root itself', async () => own, /one of an authority|key usage/],
    [
      'if it is a CA certificate',
      () => newLeaf(own, { ca: true, usages: keyCertSign | digitalSignature }),
      /one of an authority/,
    ],
    ['if an intermediate CA issued it', ofIntermediate, /no trusted root/],
    ['if it is for servers only', () => withPurpose('1.3.6.1.5.5.7.3.1'), /not for clients/],
    ['if it is not for signing', () => newLeaf(own, { usages: keyAgreement }), /not for signing/],
    [
      'if it names the operator, under a root for all parties',
      () => newLeaf(general, { party: 'operator' }),
      /issues for several/,
    ],
    [
      'if it names the operator, under the root of a party',
      () => newLeaf(own, { party: 'operator' }),
      /is of "operator"/,
    ],
    [
      'if it names another party than the one of its root',
      () => newLeaf(own, { party: castOf(exchange).globex.name }),
      /is of "measurementConsumers\/globex"/,
    ],
    [
      'if it names a party that has another root',
      () => newLeaf(shared, { party: castOf(exchange).acme.name }),
      /not issued by a root that is trusted for measurementConsumers\/acme/,
    ],
    [
      'if it names a party that has its own root, under a root for all parties',
      () => newLeaf(general, { party: castOf(exchange).acme.name }),
      /not issued by a root that is trusted for measurementConsumers\/acme/,
    ],
    [
      'if it names two parties',
      () => newLeaf(shared, { extensions: [naming('dataProviders/streamly', 'dataProviders/chirper')] }),
      /names 2 of them/,
    ],
    ['if it names no party and several parties share its root', () => newLeaf(shared), /is registered by 0/],
    ['if two parties that share its root registered it', registeredTwice, /is registered by 2/],
  ])('fails %s', async (_what, make, why) => {
    const { acme } = castOf(exchange);
    expect(await whyNot(call(await make(), acme))).toMatch(why);
  });

  it('fails without a certificate', async () => {
    expect(await whyNot(call(undefined, castOf(exchange).acme))).toBe('no credentials');
  });

  const ofStranger = async (options: Partial<Options>) => newLeaf(await newRoot('CN=Stranger'), options);
  const naming = (...parties: string[]) =>
    new x509.SubjectAlternativeNameExtension(
      parties.map((party) => ({ type: 'url' as const, value: `mex:${party}` })),
    );
  const withPurpose = (oid: string) =>
    newLeaf(own, { extensions: [new x509.ExtendedKeyUsageExtension([oid])] });
  async function ofIntermediate(): Promise<Issued> {
    return newLeaf(await newLeaf(own, { name: 'CN=Below', ca: true, usages: keyCertSign }));
  }
  async function registeredTwice(): Promise<Issued> {
    const { streamly, chirper } = castOf(exchange);
    const caller = await newLeaf(shared);
    await registerAt(streamly, caller);
    await registerAt(chirper, caller);
    return caller;
  }
});

it('a client certificate can have the extended key usage clientAuth or anyExtendedKeyUsage', async () => {
  const { acme } = castOf(exchange);
  for (const oid of ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0']) {
    const extensions = [new x509.ExtendedKeyUsageExtension([oid])];
    await call(await newLeaf(own, { extensions }), acme);
  }
});

describe('a valid client certificate', () => {
  it('is rejected immediately after its revocation, and so is a new certificate with the same key', async () => {
    const { acme } = castOf(exchange);
    const keys = await generateKeys();
    const caller = await newLeaf(own, { keys });
    const name = await registerAt(acme, caller);
    await call(caller, acme);
    await ok(post(exchange, acme, `${name}:revoke`, { revocationState: 'REVOKED' }));
    for (const later of [caller, await newLeaf(own, { keys, name: 'CN=Renewed' })]) {
      expect(await whyNot(call(later, acme))).toBe('a certificate of this key is revoked or on hold');
    }
    await call(await newLeaf(own), acme);
  });

  it('is rejected while a certificate of its key is on hold', async () => {
    const { acme } = castOf(exchange);
    const caller = await newLeaf(own);
    const name = await registerAt(acme, caller);
    await call(caller, acme);
    await ok(post(exchange, acme, `${name}:revoke`, { revocationState: 'HOLD' }));
    expect(await whyNot(call(caller, acme))).toBe('a certificate of this key is revoked or on hold');
    await ok(post(exchange, acme, `${name}:releaseHold`));
    await call(caller, acme);
  });

  it('is rejected immediately after its root is removed, and identifies the next party of this root', async () => {
    const { dailynews, globex } = castOf(exchange);
    const moving = await newRoot('CN=Moving root');
    const caller = await newLeaf(moving);
    const first = await trust(moving, dailynews.name);
    await call(caller, dailynews);
    await ok(asOperator(exchange, 'DELETE', first));
    expect(await whyNot(call(caller, dailynews))).toMatch(/no trusted root/);
    const second = await trust(moving, globex.name);
    expect(await failureOf(call(caller, dailynews))).toBe(DENIED);
    await call(caller, globex);
    await ok(asOperator(exchange, 'DELETE', second));
  });

  it('is rejected by other replicas 30 s after its root is removed', async () => {
    const { dailynews } = castOf(exchange);
    const connection = { connectionString: exchange.database.url };
    await using stack = new AsyncDisposableStack();
    const db = new Database({ connection, applicationName: 'test' });
    stack.defer(() => db.close());
    const removed = await newRoot('CN=Removed root');
    const { der } = await newLeaf(removed);
    const name = await trust(removed, dailynews.name);
    let now = Date.now();
    const { verify } = createClientCertificateVerifier({
      lookup: clientCertificateLookup(db),
      clock: () => now,
    });
    expect((await verify(der)).claimedPrincipal).toBe(dailynews.name);
    await ok(asOperator(exchange, 'DELETE', name));
    now += 29_999;
    expect((await verify(der)).claimedPrincipal).toBe(dailynews.name);
    now += 1;
    await expect(verify(der)).rejects.toMatchObject({ reason: 'TOKEN_INVALID' });
  });

  it('is rejected with PRINCIPAL_SUSPENDED while its party is suspended', async () => {
    const { dailynews } = castOf(exchange);
    const caller = await newLeaf(general, { party: dailynews.name });
    await call(caller, dailynews);
    await ok(asOperator(exchange, 'POST', `${dailynews.name}:suspend`));
    expect(await failureOf(call(caller, dailynews))).toBe('permission_denied PRINCIPAL_SUSPENDED');
    await ok(asOperator(exchange, 'POST', `${dailynews.name}:resume`));
    await call(caller, dailynews);
  });

  it('is rejected with PRINCIPAL_UNKNOWN if its party does not exist', async () => {
    const caller = await newLeaf(general, { party: 'dataProviders/nobody' });
    const failure = await failureOf(call(caller, castOf(exchange).acme));
    expect(failure).toBe('permission_denied PRINCIPAL_UNKNOWN');
  });
});

describe('an API key', () => {
  async function keyOf(party: { name: string; token: string }) {
    const body = { displayName: 'Reporting' };
    const created = exchange.call(party.token, 'POST', `/v2alpha/${party.name}/apiKeys`, body);
    const { name, authenticationKey } = await ok(created);
    return { name, key: { 'x-api-key': authenticationKey as string } };
  }

  it('identifies only its consumer, even next to a client certificate of another party', async () => {
    const { acme, globex } = castOf(exchange);
    const { key } = await keyOf(globex);
    for (const caller of [undefined, await newLeaf(own), await newLeaf(await newRoot('CN=Stranger'))]) {
      await call(caller, globex, key);
      expect(await failureOf(call(caller, acme, key))).toBe(DENIED);
    }
  });

  it('is rejected if it is expired, deleted or malformed', async () => {
    const { acme } = castOf(exchange);
    const expired = await keyOf(acme);
    await exchange.database.query(
      `UPDATE api_keys SET create_time = now() - interval '2 days', expire_time = now() - interval '1 day'
        WHERE id = $1`,
      [expired.name.split('/').at(-1)],
    );
    expect(await whyNot(call(undefined, acme, expired.key))).toBe('the API key has expired');

    const deleted = await keyOf(acme);
    await call(undefined, acme, deleted.key);
    await ok(exchange.call(acme.token, 'DELETE', `/v2alpha/${deleted.name}`));
    expect(await whyNot(call(undefined, acme, deleted.key))).toBe('the API key is unknown');

    const { authenticationKey } = { authenticationKey: deleted.key['x-api-key'] };
    for (const malformed of ['', 'mex_', acme.token, authenticationKey.slice(4), `${authenticationKey}A`]) {
      const why = await whyNot(call(undefined, acme, { 'x-api-key': malformed }));
      expect(why).toBe('the API key is malformed');
    }
  });

  it('is rejected as a bearer token, and a bearer token is rejected as an API key', async () => {
    const { acme } = castOf(exchange);
    const { key } = await keyOf(acme);
    await whyNot(call(undefined, acme, { authorization: `Bearer ${key['x-api-key']}` }));
    await whyNot(call(undefined, acme, { 'x-api-key': `Bearer ${acme.token}` }));
  });
});

it('the log contains neither API keys nor client certificates', async () => {
  const { acme } = castOf(exchange);
  const caller = await newLeaf(own);
  await call(caller, acme);
  const logs = (await exchange.logs()).join('\n');
  expect(logs).toContain('ListMeasurements');
  expect(logs).not.toMatch(/mex_[A-Za-z0-9_-]{43}/);
  expect(logs).not.toContain(caller.pem.split('\n')[1]);
});
