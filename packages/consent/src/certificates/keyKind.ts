import { type Der, derElements, oidText } from './der.ts';

/** The kind of a signing key, in the names of the table of signature algorithms. */
export interface KeyKind {
  /** `EC` or `RSA`; the OID of any other. */
  keyType: string;
  /** Where the key is one of a curve. `P-256`, `P-384` or `P-521`; the OID of any other. */
  curve?: string;
}

const EC = '1.2.840.10045.2.1';
const RSA = '1.2.840.113549.1.1.1';
const CURVES: Record<string, string> = {
  '1.2.840.10045.3.1.7': 'P-256',
  '1.3.132.0.34': 'P-384',
  '1.3.132.0.35': 'P-521',
};

/** From an AlgorithmIdentifier, which a certificate and a PKCS #8 key have alike. */
export function keyKind(algorithmIdentifier: Der): KeyKind {
  const [algorithm, parameters] = derElements(algorithmIdentifier.content);
  const oid = oidText(algorithm);
  if (oid === RSA) return { keyType: 'RSA' };
  if (oid !== EC) return { keyType: oid };
  const curve = oidText(parameters);
  return { keyType: 'EC', curve: CURVES[curve] ?? curve };
}
