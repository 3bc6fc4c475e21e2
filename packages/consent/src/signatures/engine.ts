/**
 * Hashes data and checks signatures, which servers do for most requests. Node's functions take a third of the CPU time
 * of WebCrypto's functions, but browsers have only WebCrypto. Both implementations accept the same signatures.
 */
import { type SignatureAlgorithm, toBase64 } from '@measurement-exchange/contract';
import { asBytes, type Bytes } from '../base/bytes.ts';
import { cache } from '../base/cache.ts';
import type { CertificateKey } from '../certificates/certificates.ts';
import { ecdsaFromDer } from '../certificates/der.ts';
import type { KeyKind } from '../certificates/keyKind.ts';

type Hash = SignatureAlgorithm['hash'];
/**
 * Returns whether the key made the signature. The caller must pass a `hash` that is supported for this type of key. An
 * ECDSA signature must be valid DER.
 */
type Verify = (key: CertificateKey, hash: Hash, signature: Uint8Array, data: Uint8Array) => Promise<boolean>;

const node = globalThis.process?.getBuiltinModule?.('node:crypto');
type NodeKey = ReturnType<NonNullable<typeof node>['createPublicKey']>;

/**
 * The longest input to hash synchronously. Longer input is hashed on a pool thread, so that other requests do not wait.
 */
const MAX_BYTES_HASHED_AT_ONCE = 1_000;

export async function sha256(bytes: Uint8Array): Promise<Bytes> {
  if (node !== undefined && bytes.length <= MAX_BYTES_HASHED_AT_ONCE) {
    return new Uint8Array(node.hash('sha256', bytes, 'buffer'));
  }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', asBytes(bytes)));
}

const webKeys = cache<Promise<CryptoKey>>();

export const verifyByWebCrypto: Verify = async (key, hash, signature, message) => {
  const algorithm = importAlgorithm(key, hash);
  const { spki } = key;
  const imported = await webKeys(`${hash} ${key.curve} ${toBase64(spki)}`, () =>
    crypto.subtle.importKey('spki', Uint8Array.from(spki), algorithm, false, ['verify']),
  ).catch((error: Error) => {
    // Throw if the engine lacks the algorithm, because the signature then cannot be checked. Any other error means that
    // the key is invalid and cannot have made the signature.
    if (error.name === 'NotSupportedError') throw error;
  });
  if (imported === undefined) return false;
  const bytes = key.keyType === 'EC' ? ecdsaFromDer(signature, coordinateBytes(key))! : signature;
  return crypto.subtle.verify({ ...algorithm, hash }, imported, asBytes(bytes), asBytes(message));
};

const nodeKeys = cache<NodeKey>();

export const verifyByNode: Verify = ({ spki }, hash, signature, message) =>
  new Promise((resolve) => {
    let key: NodeKey;
    try {
      key = nodeKeys(toBase64(spki), () =>
        node!.createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' }),
      );
    } catch {
      resolve(false);
      return;
    }
    // With a callback, `verify` runs on a pool thread. An error means that the key is invalid and cannot have made the
    // signature.
    node!.verify(hash, message, key, signature, (error, valid) => resolve(error === null && valid));
  });

export const verify = node === undefined ? verifyByWebCrypto : verifyByNode;

export function importAlgorithm(kind: KeyKind, hash: Hash) {
  return kind.keyType === 'EC'
    ? { name: 'ECDSA', namedCurve: kind.curve! }
    : { name: 'RSASSA-PKCS1-v1_5', hash };
}

/** Returns the length of r and of s in an ECDSA signature. For example, each has 66 bytes on P-521. */
export function coordinateBytes({ curve }: KeyKind): number {
  return Math.ceil(Number(curve?.slice(2)) / 8);
}
