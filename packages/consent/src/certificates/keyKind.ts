import { type Der, derElements, oidText } from './der.ts';

/** The type of a signing key, named as in the table of signature algorithms. */
export interface KeyKind {
  /** `EC`, `RSA`, or the OID of another type. */
  keyType: string;
  /** For EC keys: `P-256`, `P-384`, `P-521`, or the OID of another curve. */
  curve?: string;
}

const EC = '1.2.840.10045.2.1';
const RSA = '1.2.840.113549.1.1.1';
const CURVES: Record<string, string> = {
  '1.2.840.10045.3.1.7': 'P-256',
  '1.3.132.0.34': 'P-384',
  '1.3.132.0.35': 'P-521',
};

/** Reads the key type from an AlgorithmIdentifier, which both certificates and PKCS #8 keys contain. */
export function keyKind(algorithmIdentifier: Der): KeyKind {
  const [algorithm, parameters] = derElements(algorithmIdentifier.content);
  const oid = oidText(algorithm);
  if (oid === RSA) return { keyType: 'RSA' };
  if (oid !== EC) return { keyType: oid };
  const curve = oidText(parameters);
  return { keyType: 'EC', curve: CURVES[curve] ?? curve };
}
