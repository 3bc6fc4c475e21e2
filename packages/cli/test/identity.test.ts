import { createPublicKey, verify, X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { specs } from '@measurement-exchange/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mex, mexJson } from './mexInProcess.ts';

const NAME = 'dataProviders/lakeside';
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-identity-'));
});
afterEach(() => rm(folder, { recursive: true }));

const path = (file: string) => join(folder, file);
const read = (file: string) => readFile(path(file), 'utf8');
const party = async (directory: string) => JSON.parse(await read(`${directory}/party.json`));

describe('mex identity', () => {
  it('creates a root, a certificate, and an encryption key that is signed with the signing key', async () => {
    const { fingerprint } = await mexJson(
      'identity',
      NAME,
      '--display-name',
      'Lakeside',
      '--out',
      path('one'),
    );
    const { name, displayName, certificatePem, rootPem, publicKey } = await party('one');
    expect({ name, displayName }).toEqual({ name: NAME, displayName: 'Lakeside' });
    const [certificate, root] = [new X509Certificate(certificatePem), new X509Certificate(rootPem)];
    expect(certificate.fingerprint256).toBe(fingerprint);
    expect(certificate.checkIssued(root) && certificate.verify(root.publicKey)).toBe(true);
    expect(certificate.publicKey.equals(createPublicKey(await read('one/signing-key.pem')))).toBe(true);
    expect(root.publicKey.equals(createPublicKey(await read('one/root-key.pem')))).toBe(true);
    const message = Buffer.from(publicKey.message, 'base64');
    expect(verify('sha256', message, certificate.publicKey, Buffer.from(publicKey.signature, 'base64'))).toBe(
      true,
    );
    const keyset = Buffer.from(fromBinary(specs.EncryptionPublicKeySchema, message).data).toString('base64');
    expect(await read('one/encryption-public.tink')).toBe(`${keyset}\n`);
  });

  it('writes secrets to files of mode 0600, and none to party.json', async () => {
    await mex('identity', NAME, '--out', path('one'));
    expect((await stat(path('one'))).mode & 0o777).toBe(0o700);
    const secrets = ['encryption-private.tink', 'root-key.pem', 'signing-key.pem'];
    const modes = await Promise.all(
      (await readdir(path('one'))).map(
        async (file) => [file, (await stat(path(`one/${file}`))).mode & 0o777] as const,
      ),
    );
    expect(
      modes
        .filter(([, mode]) => mode === 0o600)
        .map(([file]) => file)
        .sort(),
    ).toEqual(secrets);
    expect(modes).toHaveLength(7);
    const handed = await read('one/party.json');
    for (const secret of secrets) {
      const lines = (await read(`one/${secret}`))
        .split('\n')
        .filter((line) => line.length > 20 && !line.startsWith('--'));
      for (const line of lines) expect(handed).not.toContain(line);
    }
  });

  it('truncates a long display name in the certificates, whose names have at most 64 characters', async () => {
    await mex('identity', NAME, '--display-name', 'é'.repeat(255), '--out', path('one'));
    const { displayName, certificatePem, rootPem } = await party('one');
    expect(displayName).toHaveLength(255);
    const [certificate, root] = [new X509Certificate(certificatePem), new X509Certificate(rootPem)];
    expect(certificate.toLegacyObject().subject.CN).toBe('é'.repeat(59));
    expect(root.toLegacyObject().subject.CN).toBe(`${'é'.repeat(59)} root`);
  });

  it('never overwrites keys', async () => {
    await mex('identity', NAME, '--out', path('one'));
    const before = await read('one/signing-key.pem');
    await expect(mex('identity', NAME, '--out', path('one'))).rejects.toThrow(
      /not empty.*never overwritten.*--out/,
    );
    expect(await read('one/signing-key.pem')).toBe(before);
    await writeFile(path('file'), '');
    await expect(mex('identity', NAME, '--out', path('file'))).rejects.toThrow('give another folder');
  });

  it('renews the certificate from the same root, with the same encryption key or a new one', async () => {
    await mex('identity', NAME, '--display-name', 'Lakeside', '--out', path('one'));
    await mex('identity', NAME, '--renew', path('one'), '--out', path('two'));
    await mex('identity', NAME, '--renew', path('two'), '--new-encryption-key', '--out', path('three'));
    const [one, two, three] = [await party('one'), await party('two'), await party('three')];
    expect([two.rootPem, three.rootPem].map((pem) => pem.trim())).toEqual([
      one.rootPem.trim(),
      one.rootPem.trim(),
    ]);
    expect(two.displayName).toBe('Lakeside');
    expect(two.certificatePem).not.toBe(one.certificatePem);
    expect(two.publicKey.message).toBe(one.publicKey.message);
    expect(two.publicKey.signature).not.toBe(one.publicKey.signature);
    expect(three.publicKey.message).not.toBe(one.publicKey.message);
    expect(await read('two/encryption-private.tink')).toBe(await read('one/encryption-private.tink'));
    await expect(
      mex('identity', 'dataProviders/other', '--renew', path('one'), '--out', path('four')),
    ).rejects.toThrow(`the identity of ${NAME}`);
  });

  it.each([
    'lakeside',
    'dataProviders',
    'dataProviders/',
    'dataProviders/-',
    'dataProviders/a/b',
    'operator',
    'events/x',
    'dataProviders/ü',
  ])('rejects %s, which is not the name of a party', async (name) => {
    await expect(mex('identity', name, '--out', path('one'))).rejects.toThrow(
      /not the name of a party.*dataProviders\/<id>/,
    );
    expect(await readdir(folder)).toEqual([]);
  });
});
