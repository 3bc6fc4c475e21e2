import { createPrivateKey, createPublicKey, verify, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { fromBase64, specs } from '@measurement-exchange/contract';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDevIssuer } from '../auth/devIssuer.ts';
import { createDevFile } from './devFile.ts';
import { type DemoStore, type DescribedParty, ensureDemoParties } from './parties.ts';

const PARTIES = [
  ['measurementConsumers/acme', 'Acme Beverages'],
  ['measurementConsumers/globex', 'Globex Motors'],
  ['dataProviders/streamly', 'Streamly TV'],
  ['dataProviders/chirper', 'Chirper Social'],
  ['dataProviders/dailynews', 'Daily News'],
];
const baseUrl = 'http://127.0.0.1:8080';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'mex-dev-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

/** An in-memory store with the operations that the demo parties need. */
function emptyStore() {
  const parties = new Map<string, DescribedParty>();
  const certificates = new Map<string, Uint8Array>();
  const keys = new Map<string, Parameters<DemoStore['setPublicKey']>[0]>();
  const store: DemoStore = {
    ensureParty: async (party) => void parties.set(party.name, party),
    certificateExists: async (name) => certificates.has(name),
    addCertificate: async ({ party, id, der }) => void certificates.set(`${party}/certificates/${id}`, der),
    setPublicKey: async (key) => void keys.set(key.party, key),
  };
  return { parties, certificates, keys, store };
}

let ids = 0;
/** Simulates one start of the exchange. */
async function start(store: DemoStore, duchies = false, publishers = false) {
  const newId = () => `c${++ids}`;
  const parties = await ensureDemoParties({ dataDir, store, duchies, publishers, clock: Date.now, newId });
  const issuer = await createDevIssuer({ keyFile: join(dataDir, 'issuer.json'), baseUrl });
  const file = createDevFile({
    dataDir,
    baseUrl,
    addresses: { grpc: '127.0.0.1:8443' },
    issuer,
    parties,
    onError: (error) => expect.fail(`${error}`),
  });
  await file.write();
  return { parties, file };
}
const devJson = async () => JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'));

describe('the demo parties', () => {
  it('are registered with a certificate of the demo root and a signed encryption key', async () => {
    const { parties, certificates, keys, store } = emptyStore();
    const demo = await start(store);
    expect([...parties.values()]).toEqual(PARTIES.map(([name, displayName]) => ({ name, displayName })));
    expect(certificates.size).toBe(5);
    const root = new X509Certificate(demo.parties.rootCertificatePem);
    for (const party of [...demo.parties.measurementConsumers, ...demo.parties.dataProviders]) {
      const certificate = new X509Certificate(certificates.get(party.certificate)!);
      expect(certificate.checkIssued(root) && certificate.verify(root.publicKey)).toBe(true);
      expect(certificate.publicKey.equals(createPublicKey(party.privateKeyPem))).toBe(true);
      const key = keys.get(party.name)!;
      expect(key.certificate).toBe(party.certificate);
      expect(verify('sha256', key.message, certificate.publicKey, key.signature)).toBe(true);
      const message = fromBinary(specs.EncryptionPublicKeySchema, key.message);
      expect(message.format).toBe(specs.EncryptionPublicKey_Format.TINK_KEYSET);
      expect(message.data).toEqual(Uint8Array.from(fromBase64(party.encryptionPublicKey)!));
    }
  });

  it('include the publishers with agents, after the other three data providers', async () => {
    const { parties } = await start(emptyStore().store, false, true);
    expect(parties.dataProviders.map(({ name }) => name.split('/')[1])).toEqual([
      ...['streamly', 'chirper', 'dailynews'],
      ...['northlight', 'pinwheel', 'harbor'],
    ]);
  });

  it('are created once and reused by the next start', async () => {
    const { certificates, store } = emptyStore();
    const first = await start(store);
    const second = await start(store);
    expect(second.parties).toEqual(first.parties);
    expect(certificates.size).toBe(5);
  });

  it.each([
    ['lost', () => rm(join(dataDir, 'dev.json'))],
    ['cut short', () => writeFile(join(dataDir, 'dev.json'), '{"measurementConsumers": [')],
    ['null', () => writeFile(join(dataDir, 'dev.json'), 'null')],
    ['without its root', () => rm(join(dataDir, 'dev-root.json'))],
  ])('get new keys under the same names when dev.json is %s', async (_title, damage) => {
    const { certificates, store } = emptyStore();
    const first = await start(store);
    await damage();
    const second = await start(store);
    expect(certificates.size).toBe(10);
    const names = (demo: typeof first) => demo.parties.dataProviders.map((party) => party.name);
    expect(names(second)).toEqual(names(first));
    expect(certificates.has(second.parties.dataProviders[0]!.certificate)).toBe(true);
    expect((await start(store)).parties).toEqual(second.parties);
  });

  it('have client certificates with their names, even if an earlier version wrote dev.json', async () => {
    const { certificates, store } = emptyStore();
    const first = await start(store);
    const contents = await devJson();
    for (const party of contents.dataProviders) {
      delete party.clientCertificatePem;
      delete party.clientPrivateKeyPem;
    }
    await writeFile(join(dataDir, 'dev.json'), JSON.stringify(contents));
    const second = await start(store);
    expect(certificates.size).toBe(5);
    expect(second.parties.measurementConsumers).toEqual(first.parties.measurementConsumers);
    const root = new X509Certificate(second.parties.rootCertificatePem);
    for (const [i, party] of second.parties.dataProviders.entries()) {
      const { clientCertificatePem, clientPrivateKeyPem, ...identity } = party;
      expect(first.parties.dataProviders[i]).toMatchObject(identity);
      const certificate = new X509Certificate(clientCertificatePem);
      expect(certificate.verify(root.publicKey)).toBe(true);
      expect(certificate.subjectAltName).toBe(`URI:mex:${party.name}`);
      expect(certificate.checkPrivateKey(createPrivateKey(clientPrivateKeyPem))).toBe(true);
      expect(clientPrivateKeyPem).not.toBe(party.privateKeyPem);
    }
  });

  it('get new keys when the database was lost', async () => {
    await start(emptyStore().store);
    const { certificates, store } = emptyStore();
    const again = await start(store);
    expect([...certificates.keys()]).toContain(again.parties.measurementConsumers[0]!.certificate);
  });

  it('get new keys only for damaged entries of dev.json', async () => {
    const { certificates, store } = emptyStore();
    const first = await start(store);
    const contents = await devJson();
    delete contents.dataProviders[1].encryptionPrivateKey;
    contents.dataProviders[2].certificate = contents.dataProviders[0].certificate;
    contents.measurementConsumers[0] = null;
    await writeFile(join(dataDir, 'dev.json'), JSON.stringify(contents));
    const second = await start(store);
    expect(certificates.size).toBe(8);
    expect(second.parties.dataProviders[0]).toEqual(first.parties.dataProviders[0]);
    expect(second.parties.measurementConsumers[1]).toEqual(first.parties.measurementConsumers[1]);
  });
});

describe('the demo duchies', () => {
  const endpoints = async () => (await devJson()).duchies.map(({ endpoint }: DescribedParty) => endpoint);

  it('are three with different keys and endpoints, and data providers support all of their protocols', async () => {
    const { parties, certificates, store } = emptyStore();
    const demo = await start(store, true);
    expect(demo.parties.duchies.map(({ name }) => name)).toEqual([
      'duchies/alpha',
      'duchies/beta',
      'duchies/gamma',
    ]);
    expect(new Set(demo.parties.duchies.map(({ privateKeyPem }) => privateKeyPem)).size).toBe(3);
    expect(new Set(await endpoints()).size).toBe(3);
    for (const { name, certificate, endpoint } of demo.parties.duchies) {
      expect(endpoint).toMatch(/^http:\/\/127\.0\.0\.1:(?:2\d|3[0-2])\d{3}$/);
      expect(parties.get(name)!.endpoint).toBe(endpoint);
      expect(certificates.has(certificate)).toBe(true);
    }
    for (const { name } of demo.parties.dataProviders) {
      expect(parties.get(name)!.capabilities).toEqual({
        honestMajorityShareShuffleSupported: true,
        reachOnlyLiquidLegionsV2Supported: true,
        liquidLegionsV2Supported: true,
      });
    }
  });

  it('are reused by the next start with the same endpoints', async () => {
    const { store } = emptyStore();
    const first = await start(store, true);
    expect((await start(store, true)).parties).toEqual(first.parties);
  });

  it('keep an endpoint at which a duchy responds, and change one at which another server responds', async () => {
    const { store } = emptyStore();
    await start(store, true);
    const [alpha, beta, gamma] = await endpoints();
    const answering = (status: number, endpoint: string) =>
      createServer((_request, response) => response.writeHead(status).end())
        .listen(Number(new URL(endpoint).port), '127.0.0.1')
        .unref();
    const servers = [answering(200, alpha), answering(404, beta)];
    await Promise.all(servers.map((server) => once(server, 'listening')));
    try {
      await start(store, true);
      const [first, second, third] = await endpoints();
      expect([first, third]).toEqual([alpha, gamma]);
      expect([alpha, beta, gamma]).not.toContain(second);
    } finally {
      for (const server of servers) server.close();
    }
  });
});

describe('dev.json', () => {
  const PARTY_FIELDS = [
    ...['certificate', 'clientCertificatePem', 'clientPrivateKeyPem', 'displayName'],
    ...['encryptionPrivateKey', 'encryptionPublicKey'],
    ...['name', 'privateKeyPem', 'token'],
  ];

  it('has the documented fields, and is readable only by its owner', async () => {
    await start(emptyStore().store);
    const contents = await devJson();
    expect(contents.baseUrl).toBe(baseUrl);
    expect(contents.rootCertificatePem).toContain('BEGIN CERTIFICATE');
    expect(contents.duchies).toEqual([]);
    const parties = [...contents.measurementConsumers, ...contents.dataProviders];
    expect(parties.map(({ name, displayName }) => [name, displayName])).toEqual(PARTIES);
    for (const party of parties) expect(Object.keys(party).sort()).toEqual(PARTY_FIELDS);
    const subject = (token: string) =>
      JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).sub;
    expect(parties.map(({ token }) => subject(token))).toEqual(parties.map(({ name }) => name));
    expect(subject(contents.operator.token)).toBe('operator');
    for (const name of await readdir(dataDir)) {
      expect((await stat(join(dataDir, name))).mode & 0o777, name).toBe(0o600);
    }
    expect((await readdir(dataDir)).sort()).toEqual(['dev-root.json', 'dev.json', 'issuer.json']);
  });

  it('gets new tokens every 6 h without other changes, until the renewal is stopped', async () => {
    const { file } = await start(emptyStore().store);
    const before = await devJson();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    try {
      file.startRenewal();
      vi.advanceTimersByTime(6 * 3600_000);
      await vi.waitFor(
        async () => expect((await devJson()).operator.token).not.toBe(before.operator.token),
        30_000,
      );
      const after = await devJson();
      const strip = (contents: typeof before) =>
        JSON.stringify(contents, (key, value) => (key === 'token' ? 0 : value));
      expect(strip(after)).toBe(strip(before));
      file.stop();
      vi.advanceTimersByTime(24 * 3600_000);
      expect(vi.getTimerCount()).toBe(0);
      expect(await devJson()).toEqual(after);
    } finally {
      vi.useRealTimers();
    }
  });
});
