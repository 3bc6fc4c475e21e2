/** Tests `mex identity import`, which turns keys and certificates from openssl and Tink into an identity folder. */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBase64 } from '@measurement-exchange/contract';
import {
  createSigner,
  createTrustStore,
  decrypt,
  encrypt,
  publicKeysetOf,
  verifySignature,
} from '@measurement-exchange/sdk';
import {
  eciesPrivate,
  eciesPublic,
  hpkePrivate,
  hpkePublic,
  keyset,
} from '@measurement-exchange/testkit/tinkKeysets';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPartyFile } from '../src/files/partyFile.ts';
import { mex, mexJson } from './mexInProcess.ts';
import { der, pem } from './opensslIdentity.ts';

const NAME = 'measurementConsumers/imported';
let folder: string;
const path = (file: string) => join(folder, file);

const FILES: Record<string, Uint8Array | string> = {
  'root.der': der('root'),
  'root.pem': pem('root', 'CERTIFICATE'),
  'ec.der': der('ecCertificate'),
  'ec.pem': pem('ecCertificate', 'CERTIFICATE'),
  // The file has the form that openssl ecparam -genkey writes.
  'sec1.pem': `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${pem('ecSec1', 'EC PRIVATE KEY')}`,
  'sec1.der': der('ecSec1'),
  'pkcs8.pem': pem('ecPkcs8', 'PRIVATE KEY'),
  'pkcs8.der': der('ecPkcs8'),
  'rsa.pem': pem('rsaCertificate', 'CERTIFICATE'),
  'pkcs1.pem': pem('rsaPkcs1', 'RSA PRIVATE KEY'),
  'pkcs1.der': der('rsaPkcs1'),
  'ecies.tink': keyset([eciesPrivate()]),
  'ecies.public.tink': keyset([eciesPublic()]),
  'hpke.tink': keyset([hpkePrivate()]),
  'hpke.public.tink': keyset([hpkePublic()]),
  'ecies.base64': `${Buffer.from(keyset([eciesPrivate()])).toString('base64')}\n`,
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-import-'));
  for (const [file, content] of Object.entries(FILES)) await writeFile(path(file), content);
});
afterAll(() => rm(folder, { recursive: true }));

/**
 * Builds the command line from the files for --signing-key, --certificate and --encryption-private, and more options.
 */
const words = (out: string, key: string, certificate: string, keysetFile: string, ...more: string[]) => [
  ...['identity', 'import', NAME, '--out', path(out), '--signing-key', path(key)],
  ...['--certificate', path(certificate), '--encryption-private', path(keysetFile), ...more],
];
const keysetIn = async (file: string) =>
  Uint8Array.from(fromBase64((await readFile(path(file), 'utf8')).trim())!);

describe('an imported identity', () => {
  it.each([
    ['sec1.pem', 'ec.pem', 'ecies.tink'],
    ['sec1.der', 'ec.der', 'hpke.tink'],
    ['pkcs8.pem', 'ec.der', 'ecies.base64'],
    ['pkcs8.der', 'ec.pem', 'ecies.tink'],
    ['pkcs1.pem', 'rsa.pem', 'hpke.tink'],
    ['pkcs1.der', 'rsa.pem', 'hpke.tink'],
  ])('signs and decrypts after an import of %s, %s and %s', async (key, certificate, keysetFile) => {
    const out = `${key}-${certificate}-${keysetFile}`;
    const printed = await mexJson(...words(out, key, certificate, keysetFile, '--root', path('root.der')));
    expect(printed).toMatchObject({ name: NAME, partyFile: path(`${out}/party.json`) });

    const party = await readPartyFile(path(`${out}/party.json`));
    const { raw } = new X509Certificate(party.certificatePem);
    const trust = createTrustStore([{ party: NAME, pem: party.rootPem! }]);
    const signer = await createSigner(await readFile(path(`${out}/signing-key.pem`), 'utf8'));
    const signed = await signer.sign(Uint8Array.of(1, 2, 3));
    await expect(verifySignature(signed, await trust.verify(NAME, raw, new Date()))).resolves.toBeUndefined();

    const [privateKeyset, publicKeyset] = [
      await keysetIn(`${out}/encryption-private.tink`),
      await keysetIn(`${out}/encryption-public.tink`),
    ];
    expect(publicKeyset).toEqual(publicKeysetOf(privateKeyset));
    const sealed = await encrypt(publicKeyset, Uint8Array.of(4));
    expect(await decrypt(privateKeyset, sealed)).toEqual(Uint8Array.of(4));
  });

  it('has the files of a created identity except the root key, and only its owner can read the secrets', async () => {
    const said = await mex(
      ...words('layout', 'sec1.pem', 'ec.pem', 'ecies.tink', '--root', path('root.pem')),
    );
    const modes = await Promise.all(
      (await readdir(path('layout'))).map(async (file) => {
        return [file, (await stat(path(`layout/${file}`))).mode & 0o777] as const;
      }),
    );
    expect(Object.fromEntries(modes)).toEqual({
      'certificate.pem': 0o644,
      'encryption-private.tink': 0o600,
      'encryption-public.tink': 0o644,
      'party.json': 0o644,
      'root.pem': 0o644,
      'signing-key.pem': 0o600,
    });
    expect((await stat(path('layout'))).mode & 0o777).toBe(0o700);
    const shown = said + (await readFile(path('layout/party.json'), 'utf8'));
    const key = (await readFile(path('layout/signing-key.pem'), 'utf8')).split('\n')[1]!;
    const privateKeyset = (await readFile(path('layout/encryption-private.tink'), 'utf8')).trim();
    expect(shown).not.toContain(key);
    expect(shown).not.toContain(privateKeyset);
  });

  it('can be imported without a root, and keeps the bytes of a given public keyset', async () => {
    await mex(
      ...words('rootless', 'sec1.der', 'ec.der', 'ecies.tink'),
      ...['--encryption-public', path('ecies.public.tink'), '--display-name', 'Imported'],
    );
    const party = await readPartyFile(path('rootless/party.json'));
    expect(party).toMatchObject({ name: NAME, displayName: 'Imported' });
    expect(party.rootPem).toBeUndefined();
    expect(await keysetIn('rootless/encryption-public.tink')).toEqual(FILES['ecies.public.tink']);
  });

  it.each<[what: string, files: [string, string, string], more: string[], message: RegExp]>([
    [
      'the key of another certificate',
      ['pkcs1.der', 'ec.pem', 'ecies.tink'],
      [],
      /pkcs1\.der is not the key of .*ec\.pem/,
    ],
    [
      'a root that did not issue the certificate',
      ['sec1.der', 'ec.pem', 'ecies.tink'],
      ['--root', 'ec.der'],
      /did not issue/,
    ],
    [
      'a file without a private key',
      ['ec.pem', 'ec.pem', 'ecies.tink'],
      [],
      /holds 0 private keys.*Give a private key/,
    ],
    [
      'a key instead of the certificate',
      ['sec1.der', 'sec1.pem', 'ecies.tink'],
      [],
      /no certificate\. Give a certificate in PEM or DER/,
    ],
    ['an encrypted key', ['locked.pem', 'ec.pem', 'ecies.tink'], [], /may be encrypted/],
    [
      'a public keyset as the private one',
      ['sec1.der', 'ec.pem', 'ecies.public.tink'],
      [],
      /ecies\.public\.tink: /,
    ],
    [
      'keysets that are not a pair',
      ['sec1.der', 'ec.pem', 'ecies.tink'],
      ['--encryption-public', 'hpke.public.tink'],
      /give a pair/,
    ],
    ['a missing file', ['nowhere', 'ec.pem', 'ecies.tink'], [], /cannot be read \(ENOENT\)/],
    [
      'text instead of a certificate',
      ['sec1.der', 'text', 'ecies.tink'],
      [],
      /not a certificate\. Give a certificate in PEM or DER/,
    ],
  ])('is not created from %s', async (_what, [key, certificate, keysetFile], more, message) => {
    const { privateKey } = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
    });
    await writeFile(path('locked.pem'), privateKey);
    await writeFile(path('text'), 'hello, world');
    const options = more.map((word) => (word.startsWith('--') ? word : path(word)));
    await expect(mex(...words('none', key, certificate, keysetFile, ...options))).rejects.toThrow(message);
    await expect(stat(path('none'))).rejects.toThrow('ENOENT');
  });

  it('never overwrites keys', async () => {
    await mex(...words('twice', 'sec1.der', 'ec.der', 'ecies.tink'));
    const before = await readFile(path('twice/signing-key.pem'), 'utf8');
    await expect(mex(...words('twice', 'pkcs1.der', 'rsa.pem', 'hpke.tink'))).rejects.toThrow(
      /never overwritten/,
    );
    expect(await readFile(path('twice/signing-key.pem'), 'utf8')).toBe(before);
  });
});

describe('mex keys inspect', () => {
  it('describes keys and certificates in DER like those in PEM', async () => {
    const files = ['ec.pem', 'ec.der', 'sec1.pem', 'sec1.der', 'pkcs8.der', 'ecies.tink'];
    const printed = await mex('keys', 'inspect', ...files.map(path), '--json');
    const [inPem, inDer, ...rest] = printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { file: _pem, ...certificate } = inPem;
    expect(inDer).toMatchObject(certificate);
    const { publicKeyFingerprint } = certificate;
    expect(rest.slice(0, 3)).toEqual(
      ['sec1.pem', 'sec1.der', 'pkcs8.der'].map((file) => {
        return { file: path(file), kind: 'private signing key', key: 'EC P-256', publicKeyFingerprint };
      }),
    );
    expect(rest[3]).toMatchObject({ kind: 'private Tink keyset' });
    await writeFile(path('cut.der'), der('ecCertificate').subarray(0, 100));
    await expect(mex('keys', 'inspect', path('cut.der'))).rejects.toThrow(/looks like DER, but is neither/);
  });
});
