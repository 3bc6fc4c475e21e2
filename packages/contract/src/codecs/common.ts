import * as s from '../json/schema.ts';

/** A signature algorithm. Curves and hashes have the names that WebCrypto uses. Only EC keys have a `curve`. */
export interface SignatureAlgorithm {
  oid: string;
  keyType: 'EC' | 'RSA';
  curve?: 'P-256' | 'P-384' | 'P-521';
  hash: 'SHA-256' | 'SHA-384' | 'SHA-512';
}

/** The supported signature algorithms. ECDSA signatures are DER-encoded. RSA signatures use PKCS #1 v1.5 padding. */
export const SIGNATURE_ALGORITHMS = {
  ECDSA_P256_SHA256: { oid: '1.2.840.10045.4.3.2', keyType: 'EC', curve: 'P-256', hash: 'SHA-256' },
  ECDSA_P384_SHA384: { oid: '1.2.840.10045.4.3.3', keyType: 'EC', curve: 'P-384', hash: 'SHA-384' },
  ECDSA_P521_SHA512: { oid: '1.2.840.10045.4.3.4', keyType: 'EC', curve: 'P-521', hash: 'SHA-512' },
  RSA_PKCS1_SHA256: { oid: '1.2.840.113549.1.1.11', keyType: 'RSA', hash: 'SHA-256' },
  RSA_PKCS1_SHA384: { oid: '1.2.840.113549.1.1.12', keyType: 'RSA', hash: 'SHA-384' },
  RSA_PKCS1_SHA512: { oid: '1.2.840.113549.1.1.13', keyType: 'RSA', hash: 'SHA-512' },
} as const satisfies Record<string, SignatureAlgorithm>;

export type SignatureAlgorithmName = keyof typeof SIGNATURE_ALGORITHMS;

interface SigningKey {
  keyType: string;
  curve?: string | undefined;
}

export function findSignatureAlgorithm(nameOrOid: string): SignatureAlgorithm | undefined {
  return Object.entries(SIGNATURE_ALGORITHMS).find(([name, { oid }]) => [name, oid].includes(nameOrOid))?.[1];
}

/** Returns the algorithm of a message that was signed with this key but does not name an algorithm. */
export function defaultSignatureAlgorithm(key: SigningKey): SignatureAlgorithmName | undefined {
  const names = Object.keys(SIGNATURE_ALGORITHMS) as SignatureAlgorithmName[];
  return names.find((name) => isOfKey(SIGNATURE_ALGORITHMS[name], key));
}

/**
 * Returns the hash function for signatures by this key, or undefined if the algorithm does not match the key. `named`
 * is the algorithm's name or OID, and defaults to the key's default algorithm. A named algorithm must have the key's
 * type and curve. For an OID, only the type must match, because the OID of an ECDSA algorithm does not specify a curve.
 */
export function signatureHash(
  named: string | undefined,
  key: SigningKey,
): SignatureAlgorithm['hash'] | undefined {
  const name = named ?? defaultSignatureAlgorithm(key);
  const algorithm = name === undefined ? undefined : findSignatureAlgorithm(name);
  if (algorithm === undefined) return undefined;
  const fits = name === algorithm.oid ? algorithm.keyType === key.keyType : isOfKey(algorithm, key);
  return fits ? algorithm.hash : undefined;
}

function isOfKey(algorithm: SignatureAlgorithm, key: SigningKey): boolean {
  return algorithm.keyType === key.keyType && algorithm.curve === key.curve;
}

export const SignedMessage = s.object(
  {
    message: s.bytes({ min: 1 }),
    signature: s.bytes({ min: 1 }),
    signatureAlgorithm: s.optional(
      s.enumOf([
        ...Object.keys(SIGNATURE_ALGORITHMS),
        ...Object.values(SIGNATURE_ALGORITHMS).map(({ oid }) => oid),
      ]),
    ),
  },
  'A message and its signature over exactly these bytes.',
);
export type SignedMessage = s.Static<typeof SignedMessage>;

const encryptedMessage = { ciphertext: s.bytes({ min: 1 }), typeUrl: s.text(512, 1) };

export const EncryptedMessage = s.object(encryptedMessage);
export type EncryptedMessage = s.Static<typeof EncryptedMessage>;

export const EncryptedRequisitionSpec = s.object(
  { ...encryptedMessage, nonce: s.optional(s.uint64()) },
  'Encrypted for the data provider. `nonce` only where the consumer chose to disclose it.',
);
export type EncryptedRequisitionSpec = s.Static<typeof EncryptedRequisitionSpec>;

export const EncryptionPublicKey = s.object({
  '@type': s.text(512, 1),
  data: s.bytes({ min: 1 }),
  format: s.optional(s.enumOf(['FORMAT_UNSPECIFIED', 'TINK_KEYSET'])),
});
export type EncryptionPublicKey = s.Static<typeof EncryptionPublicKey>;

/** The W3C `traceparent` of the request that created the measurement. Set only if the exchange traces requests. */
export const Traceparent = s.text(55, 55);

/** A problem that a check found in a request. The `checks` setting decides whether a finding rejects the request. */
export const Finding = s.object({
  code: s.text(100),
  field: s.text(1000),
  message: s.text(2000),
  remedy: s.text(2000),
});
export type Finding = s.Static<typeof Finding>;

/** Output-only fields that several resources share. */
export const written = {
  createTime: s.optional(s.timestamp()),
  updateTime: s.optional(s.timestamp()),
  findings: s.optional(s.array(Finding)),
};

export const certificateName = s.nameOf(
  'measurementConsumerCertificate',
  'dataProviderCertificate',
  'duchyCertificate',
);
