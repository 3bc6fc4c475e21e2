import { bytes, enumOf, nameOf, object, optional, type Static, text, uint64 } from '../schema.ts';

/** The signature algorithms known by name, with the OID each one has in X.509. */
export const SIGNATURE_ALGORITHMS = {
  ECDSA_P256_SHA256: '1.2.840.10045.4.3.2',
  ECDSA_P384_SHA384: '1.2.840.10045.4.3.3',
  ECDSA_P521_SHA512: '1.2.840.10045.4.3.4',
  RSA_PKCS1_SHA256: '1.2.840.113549.1.1.11',
  RSA_PKCS1_SHA384: '1.2.840.113549.1.1.12',
  RSA_PKCS1_SHA512: '1.2.840.113549.1.1.13',
} as const;

export const SignedMessage = object(
  {
    message: bytes({ min: 1 }),
    signature: bytes({ min: 1 }),
    signatureAlgorithm: optional(
      enumOf([...Object.keys(SIGNATURE_ALGORITHMS), ...Object.values(SIGNATURE_ALGORITHMS)]),
    ),
  },
  'A message and its signature over exactly these bytes.',
);
export type SignedMessage = Static<typeof SignedMessage>;

const encryptedMessage = { ciphertext: bytes({ min: 1 }), typeUrl: text(512, 1) };

export const EncryptedMessage = object(encryptedMessage);
export type EncryptedMessage = Static<typeof EncryptedMessage>;

export const EncryptedRequisitionSpec = object(
  { ...encryptedMessage, nonce: optional(uint64()) },
  'Encrypted for the data provider. `nonce` only where the consumer chose to disclose it.',
);
export type EncryptedRequisitionSpec = Static<typeof EncryptedRequisitionSpec>;

export const EncryptionPublicKey = object({
  '@type': text(512, 1),
  data: bytes({ min: 1 }),
  format: optional(enumOf(['FORMAT_UNSPECIFIED', 'TINK_KEYSET'])),
});
export type EncryptionPublicKey = Static<typeof EncryptionPublicKey>;

/** Something a deeper check found: see the setting `checks`. */
export const Finding = object({
  code: text(100),
  field: text(1000),
  message: text(2000),
  remedy: text(2000),
});
export type Finding = Static<typeof Finding>;

export const certificateName = nameOf(
  'measurementConsumerCertificate',
  'dataProviderCertificate',
  'duchyCertificate',
);
