/**
 * Tests `mex keys`, which describes key files without printing their secrets, creates keysets, and prints public
 * keysets.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBase64 } from '@measurement-exchange/contract';
import { decrypt, encrypt, readPrivateKeyset } from '@measurement-exchange/sdk';
import { createIdentity } from '@measurement-exchange/sdk/identity';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mex } from './mexInProcess.ts';

let folder: string;
const path = (file: string) => join(folder, file);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-keys-'));
  await mex('identity', 'dataProviders/lakeside', '--display-name', 'Lakeside', '--out', path('lakeside'));
});
afterAll(() => rm(folder, { recursive: true }));

const inspect = async (...files: string[]) =>
  (await mex('keys', 'inspect', ...files.map(path), '--json'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const keysetOf = async (file: string) => fromBase64((await readFile(path(file), 'utf8')).trim())!;

describe('mex keys inspect', () => {
  it('prints the same public key fingerprint for a certificate and its private key', async () => {
    const [certificate, root, key, rootKey] = await inspect(
      ...[
        'lakeside/certificate.pem',
        'lakeside/root.pem',
        'lakeside/signing-key.pem',
        'lakeside/root-key.pem',
      ],
    );
    expect(certificate).toMatchObject({
      kind: 'certificate',
      subject: 'CN=Lakeside',
      isCa: false,
      key: 'EC P-256',
    });
    expect(certificate.authorityKeyIdentifier).toBe(root.subjectKeyIdentifier);
    expect(root).toMatchObject({ isCa: true, keyUsages: expect.arrayContaining(['keyCertSign']) });
    expect(key).toMatchObject({
      kind: 'private signing key',
      publicKeyFingerprint: certificate.publicKeyFingerprint,
    });
    expect(rootKey.publicKeyFingerprint).toBe(root.publicKeyFingerprint);
    expect(key.publicKeyFingerprint).not.toBe(rootKey.publicKeyFingerprint);
    const said = await mex('keys', 'inspect', path('lakeside/certificate.pem'));
    expect(said).toMatch(/valid +\d{4}-.* UTC \(36[45] more days\)\n/);
    expect(said).toMatch(/subject key +(?:[0-9A-F]{2}:){19}[0-9A-F]{2}\n/);
    const { fingerprint } = JSON.parse(
      await mex(
        'identity',
        'dataProviders/lakeside',
        '--renew',
        path('lakeside'),
        '--out',
        path('next'),
        '--json',
      ),
    );
    expect((await inspect('next/certificate.pem'))[0].fingerprint).toBe(fingerprint);
  });

  it('reads DER and a chain in PEM, and marks an expired certificate', async () => {
    const pem = await readFile(path('lakeside/certificate.pem'), 'utf8');
    await writeFile(path('certificate.der'), Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64'));
    const [fromPem, fromDer] = await inspect('lakeside/certificate.pem', 'certificate.der');
    expect({ ...fromDer, file: '' }).toEqual({ ...fromPem, file: '' });
    await writeFile(path('chain.pem'), `${pem}\n${await readFile(path('lakeside/root.pem'), 'utf8')}`);
    expect((await inspect('chain.pem')).map(({ subject }) => subject)).toEqual([
      'CN=Lakeside',
      fromPem.issuer,
    ]);
    const past = await createIdentity({ commonName: 'Past', now: Date.parse('2020-01-01'), days: 10 });
    await writeFile(path('past.pem'), past.certificatePem);
    expect(await mex('keys', 'inspect', path('past.pem'))).toMatch(/valid .* UTC \(expired\)/);
  });

  it('prints the same fingerprint for a private keyset and its public keyset', async () => {
    const [secret, open] = await inspect(
      'lakeside/encryption-private.tink',
      'lakeside/encryption-public.tink',
    );
    expect(secret.kind).toBe('private Tink keyset');
    expect(open.kind).toBe('public Tink keyset');
    expect(secret.fingerprint).toBe(open.fingerprint);
    expect(secret.keys).toEqual(open.keys);
    expect(open.keys).toEqual([
      {
        keyId: expect.any(Number),
        primary: true,
        scheme: 'ECIES P-256, HKDF-SHA-256, AES-128-GCM',
        prefix: 'TINK',
      },
    ]);
    await writeFile(path('binary.tink'), await keysetOf('lakeside/encryption-public.tink'));
    expect((await inspect('binary.tink'))[0].fingerprint).toBe(open.fingerprint);
  });

  it('prints no secret as text or as JSON', async () => {
    const files = ['lakeside/signing-key.pem', 'lakeside/root-key.pem', 'lakeside/encryption-private.tink'];
    const said = (await mex('keys', 'inspect', ...files.map(path))) + JSON.stringify(await inspect(...files));
    const { keys } = await readPrivateKeyset(await keysetOf('lakeside/encryption-private.tink'));
    for (const { privateKey } of keys) {
      const bytes = Buffer.from(privateKey);
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        expect(said.replaceAll(':', '').toLowerCase()).not.toContain(bytes.toString(encoding).toLowerCase());
      }
    }
    const body = (await readFile(path('lakeside/signing-key.pem'), 'utf8')).split('\n')[1]!;
    expect(said).not.toContain(body);
    expect(said).toContain('not printed');
  });

  it.each([
    ['text', 'hello, world', /Give a Tink keyset/],
    ['an empty file', '', /Give a Tink keyset/],
    ['a truncated PEM', '-----BEGIN CERTIFICATE-----\nAAAA', /truncated or damaged/],
    [
      'PEM of another kind',
      '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----',
      /holds a PUBLIC KEY/,
    ],
    [
      'PEM without a certificate',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      /not exactly one X.509/,
    ],
    ['a keyset in JSON', '{"primaryKeyId": 1}', /keyset is in JSON/],
  ])('rejects %s with an error that names the file and the problem', async (_what, text, message) => {
    await writeFile(path('strange'), text);
    await expect(mex('keys', 'inspect', path('strange'))).rejects.toThrow(message);
    await expect(mex('keys', 'inspect', path('strange'))).rejects.toThrow(path('strange'));
  });

  it('rejects an encrypted private key and a missing file', async () => {
    const { privateKey } = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
    });
    await writeFile(path('locked.pem'), privateKey);
    await expect(mex('keys', 'inspect', path('locked.pem'))).rejects.toThrow('may be encrypted');
    await expect(mex('keys', 'inspect', path('nowhere'))).rejects.toThrow('cannot be read (ENOENT)');
  });
});

describe('mex keys create-keyset', () => {
  it.each([
    ['ECIES_P256_HKDF_HMAC_SHA256_AES128_GCM', 'ECIES P-256'],
    ['DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_256_GCM', 'HPKE X25519'],
  ])('creates a pair that encrypts and decrypts, and never overwrites it (%s)', async (template, scheme) => {
    const files = ['--private', path(`${template}.private`), '--public', path(`${template}.public`)];
    const { keys } = JSON.parse(
      await mex('keys', 'create-keyset', ...files, '--template', template, '--json'),
    );
    expect(keys[0].scheme).toContain(scheme);
    const message = Uint8Array.of(1, 2, 3);
    const sealed = await encrypt(await keysetOf(`${template}.public`), message);
    expect(await decrypt(await keysetOf(`${template}.private`), sealed)).toEqual(message);
    expect((await stat(path(`${template}.private`))).mode & 0o777).toBe(0o600);
    await expect(mex('keys', 'create-keyset', ...files)).rejects.toThrow('never overwritten');
  });
});

describe('mex keys public', () => {
  it('prints the exact public keyset of a private keyset, and rejects a public keyset', async () => {
    const printed = await mex('keys', 'public', path('lakeside/encryption-private.tink'));
    expect(printed).toBe(await readFile(path('lakeside/encryption-public.tink'), 'utf8'));
    await expect(mex('keys', 'public', path('lakeside/encryption-public.tink'))).rejects.toThrow(
      'give the private keyset',
    );
  });
});
