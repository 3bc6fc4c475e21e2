import { generateKeys, root } from '@measurement-exchange/testkit/issuing';
import * as x509 from '@peculiar/x509';
import { expect, it } from 'vitest';
import {
  createEncryptionKeysets,
  decrypt,
  deriveEncryptionKeysets,
  encrypt,
  parseCertificate,
  publicKeyOf,
  publicKeysetOf,
  saltOf,
} from '../index.ts';

const SECRET = new Uint8Array(32).fill(7);
const SALT = new Uint8Array(32).fill(9);

it('deriveEncryptionKeysets derives equal keysets from the same secret and salt, and saltOf returns the salt', async () => {
  const first = await deriveEncryptionKeysets(SECRET, SALT);
  expect(await deriveEncryptionKeysets(Uint8Array.from(SECRET), Uint8Array.from(SALT))).toEqual(first);
  expect(saltOf(first.publicKeyset)).toEqual(SALT);
  expect(publicKeysetOf(first.privateKeyset)).toEqual(first.publicKeyset);
  const message = new TextEncoder().encode('a result');
  expect(await decrypt(first.privateKeyset, await encrypt(first.publicKeyset, message))).toEqual(message);
});

it('a keyset derived from another secret encrypts messages that the first one cannot decrypt', async () => {
  const first = await deriveEncryptionKeysets(SECRET, SALT);
  const other = await deriveEncryptionKeysets(
    SECRET.map((byte) => byte + 1),
    SALT,
  );
  const ciphertext = await encrypt(other.publicKeyset, new Uint8Array(3));
  await expect(decrypt(first.privateKeyset, ciphertext)).rejects.toMatchObject({ code: 'NO_MATCHING_KEY' });
});

it('saltOf returns undefined for a keyset without a salt', async () => {
  expect(saltOf((await createEncryptionKeysets()).publicKeyset)).toBeUndefined();
  const hpke = await createEncryptionKeysets('DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_256_GCM');
  expect(saltOf(hpke.publicKeyset)).toBeUndefined();
});

it.each([
  { name: 'ECDSA', namedCurve: 'P-256' },
  { name: 'ECDSA', namedCurve: 'P-521' },
  {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 2048,
    publicExponent: Uint8Array.of(1, 0, 1),
    hash: 'SHA-256',
  },
])('publicKeyOf returns the public key of a private key: %j', async (algorithm) => {
  const keys = await generateKeys(algorithm);
  const hash = { name: algorithm.name, hash: 'SHA-256' };
  const { der } = await root('CN=Own', { keys, algorithm: hash });
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  const pem = x509.PemConverter.encode(pkcs8, 'PRIVATE KEY');
  expect(await publicKeyOf(pem)).toEqual(parseCertificate(der).publicKey);
});
