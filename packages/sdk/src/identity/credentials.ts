import { fromBase64 } from '@measurement-exchange/contract';

/** The name and keys of a party whose certificate is registered at the exchange. Both private keys are secret. */
export interface Credentials {
  /** The party's resource name: `measurementConsumers/…`, `dataProviders/…` or `duchies/…`. */
  name: string;
  /** The name of the certificate that `privateKeyPem` belongs to, such as `dataProviders/…/certificates/…`. */
  certificate: string;
  /** The signing key, as PKCS #8 in PEM. */
  privateKeyPem: string;
  /** The Tink keyset that others use to encrypt for this party. */
  encryptionPublicKey: Uint8Array;
  /** The private Tink keyset that belongs to `encryptionPublicKey`. */
  encryptionPrivateKey: Uint8Array;
}

/** Credentials as JSON, with the keysets in base64. A development exchange writes them to `dev.json` in this form. */
export type CredentialsJson = { [K in keyof Credentials]: string };

/**
 * Reads credentials from JSON. Throws an Error if a member is invalid. The Error names the member but omits its value.
 */
export function readCredentials(json: CredentialsJson): Credentials {
  const text = (member: keyof Credentials) => {
    const value: unknown = json[member];
    if (typeof value === 'string' && value !== '') return value;
    throw new Error(`credentials: ${member} must be a non-empty string.`);
  };
  const keyset = (member: keyof Credentials) => {
    const bytes = fromBase64(text(member));
    if (bytes === undefined) throw new Error(`credentials: ${member} must be a Tink keyset in base64.`);
    return bytes;
  };
  return {
    name: text('name'),
    certificate: text('certificate'),
    privateKeyPem: text('privateKeyPem'),
    encryptionPublicKey: keyset('encryptionPublicKey'),
    encryptionPrivateKey: keyset('encryptionPrivateKey'),
  };
}
