/**
 * Signs, verifies, encrypts and compares messages as clients of the public reference system do. The only code that this
 * file shares with the exchange and the SDK is hybrid encryption.
 */
import { createHash, sign, verify, X509Certificate } from 'node:crypto';
import { decrypt, encrypt } from '@measurement-exchange/consent';
import type { Message, Stock } from './stock.ts';

const URL_OF = (type: string) => `type.googleapis.com/wfa.measurement.api.v2alpha.${type}`;
const SIGNED = URL_OF('SignedMessage');
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';

/** A party with its registered certificate and its keys. */
export interface StockParty {
  name: string;
  certificate: string;
  privateKeyPem: string;
  /** The encryption keys as Tink keysets. */
  encryptionPublicKey: Uint8Array;
  encryptionPrivateKey: Uint8Array;
}

/**
 * Encodes and signs a message. The encoded message is returned twice: in `message`, an Any, and in `data` for older
 * readers.
 */
export function signed(stock: Stock, type: string, message: Message, { privateKeyPem }: StockParty): Message {
  const value = stock.encode(type, message);
  return {
    message: { type_url: URL_OF(type), value },
    data: value,
    signature: sign('sha256', value, privateKeyPem),
    signature_algorithm_oid: ECDSA_WITH_SHA256,
  };
}

/**
 * Returns the decoded message. Throws if the type or the signature algorithm is wrong, if `data` differs from the Any
 * in `message`, or if the certificate's key does not verify the signature.
 */
export function verified(stock: Stock, type: string, message: Message, x509Der: Uint8Array): Message {
  const { type_url: typeUrl, value } = message.message;
  if (typeUrl !== URL_OF(type)) throw new Error(`${typeUrl} instead of ${URL_OF(type)}`);
  if (!same(value, message.data)) throw new Error(`${type}: data differs from message`);
  if (message.signature_algorithm_oid !== ECDSA_WITH_SHA256) {
    throw new Error(`${type}: the algorithm is ${message.signature_algorithm_oid}`);
  }
  const { publicKey } = new X509Certificate(x509Der);
  if (!verify('sha256', value, publicKey, message.signature)) throw new Error(`${type}: bad signature`);
  return stock.decode(type, value);
}

/** Encrypts a signed message for the owner of a public key. */
export async function sealed(stock: Stock, message: Message, key: Message): Promise<Message> {
  const ciphertext = await encrypt(key.data, stock.encode('SignedMessage', message));
  return { ciphertext: Buffer.from(ciphertext), type_url: SIGNED };
}

export async function opened(stock: Stock, message: Message, { encryptionPrivateKey }: StockParty) {
  if (message.type_url !== SIGNED) throw new Error(`The type of what is encrypted is ${message.type_url}`);
  return stock.decode('SignedMessage', await decrypt(encryptionPrivateKey, message.ciphertext));
}

export const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;

export function unpacked(stock: Stock, type: string, any: Message): Message {
  if (any.type_url !== URL_OF(type)) throw new Error(`${any.type_url} instead of ${URL_OF(type)}`);
  return stock.decode(type, any.value);
}

export function packed(stock: Stock, type: string, message: Message): Message {
  return { type_url: URL_OF(type), value: stock.encode(type, message) };
}

/** Hashes the nonce, encoded as 8 bytes in big-endian order, with SHA-256. */
export function hashOf(nonce: bigint | string): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(nonce));
  return createHash('sha256').update(bytes).digest();
}

export const keyOf = ({ encryptionPublicKey: data }: StockParty) => ({
  format: 'TINK_KEYSET',
  data: Buffer.from(data),
});
