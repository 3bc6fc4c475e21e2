/** Whom a party trusts to vouch for the keys of others. */
import { equalBytes, findSignatureAlgorithm, signatureHash, toBase64 } from '@measurement-exchange/contract';
import { certificateParts, parseCertificate, type X509 } from './certificates.ts';
import { ConsentError, type ConsentErrorCode } from './errors.ts';
import { keepByKey } from './kept.ts';
import { pemBlocks } from './pem.ts';
import { checkSignature, requireSigningKey } from './signatures.ts';

/** A root certificate, or several, in PEM. */
export interface TrustedRoot {
  /** The party whose certificates it may issue; absent: those of every party that has no root of its own. */
  party?: string;
  pem: string;
}

/** Decides which certificates are trusted. */
export interface TrustStore {
  /** The certificate (in DER), when a root that is trusted for the party issued it and both are valid at `now`. */
  verify(party: string, certificateDer: Uint8Array, now: Date): Promise<X509>;
}

interface Root {
  party: string | undefined;
  x509: X509;
  /** By certificate, in base64: resolved where the root issued it, which is so for ever. */
  issued: ReturnType<typeof keepByKey<Promise<void>>>;
}

/** A trust store with these roots. Throws where one is not a root: self-signed, and allowed to issue. */
export function createTrustStore(roots: readonly TrustedRoot[]): TrustStore {
  const known = roots.flatMap(({ party, pem }) =>
    readRoots(pem).map((root): Root => ({ party, x509: root, issued: keepByKey() })),
  );
  const certificates = keepByKey<X509>();
  return {
    async verify(party, certificateDer, now) {
      const key = toBase64(certificateDer);
      const certificate = certificates(key, () => parseCertificate(Uint8Array.from(certificateDer)));
      const issuers = issuersOf(certificate, party, known);
      const failures: unknown[] = [];
      // One good root is enough: a renewed one has the name and the key of its predecessor.
      for (const root of issuers) {
        try {
          await root.issued(key, () => requireIssued(certificate, root.x509));
          requireValid(certificate, root.x509, now);
          // A copy: what its reader changes is not what is trusted next time.
          return structuredClone(certificate);
        } catch (error) {
          failures.push(error);
        }
      }
      throw failures[0];
    },
  };
}

/** The roots that the certificate names as its issuer, of those that may vouch for the party: at least one. */
function issuersOf(certificate: X509, party: string, known: Root[]): Root[] {
  const { authorityKeyIdentifier } = certificate;
  if (certificate.isCa) {
    throw refusal(
      'CERTIFICATE_CHAIN_TOO_LONG',
      certificate,
      'is one of an authority, not of a signer: parties sign with certificates that their root issued directly.',
    );
  }
  if (authorityKeyIdentifier === undefined) {
    throw refusal(
      'CERTIFICATE_UNTRUSTED',
      certificate,
      'does not name its issuer: have it issued again with an authority key identifier.',
    );
  }
  const named = known.filter((root) => equalBytes(root.x509.subjectKeyIdentifier!, authorityKeyIdentifier));
  const own = known.filter((root) => root.party === party);
  const issuers = named.filter((root) => root.party === (own.length > 0 ? party : undefined));
  if (issuers.length > 0) return issuers;
  const other = named.find((root) => root.party !== undefined);
  if (other !== undefined) {
    throw refusal(
      'CERTIFICATE_OF_ANOTHER_PARTY',
      certificate,
      `was issued by the root of ${other.party}, which does not vouch for ${party}: refuse what it signed.`,
    );
  }
  throw refusal(
    'CERTIFICATE_UNTRUSTED',
    certificate,
    `was not issued by a root that is trusted for ${party}: add its root, when you have it from the party ` +
      'itself; certificates that an intermediate authority issued cannot be trusted.',
  );
}

async function requireIssued(certificate: X509, root: X509): Promise<void> {
  const { issuer, signatureAlgorithm } = certificateParts(certificate.der);
  if (findSignatureAlgorithm(signatureAlgorithm) === undefined) {
    throw refusal(
      'SIGNATURE_ALGORITHM_UNKNOWN',
      certificate,
      `is signed with the algorithm ${signatureAlgorithm}: have it issued again with ECDSA or RSA and SHA-2.`,
    );
  }
  // Names as bytes: an issuer writes its own as it is.
  const isNamed = equalBytes(issuer, certificateParts(root.der).subject);
  if (!isNamed || !(await isSignedBy(certificate, root))) {
    throw refusal(
      'CERTIFICATE_NOT_ISSUED_BY_ROOT',
      certificate,
      `names the key of ${nameOf(root)} as its issuer, which did not issue it: refuse what it signed.`,
    );
  }
  if (!(await isSignedBy(root, root)))
    throw refusal('ROOT_INVALID', root, 'is a root that did not sign itself.');
}

async function isSignedBy(certificate: X509, { publicKey }: X509): Promise<boolean> {
  const { tbs, signature, signatureAlgorithm } = certificateParts(certificate.der);
  const hash = signatureHash(signatureAlgorithm, publicKey);
  return hash !== undefined && (await checkSignature(tbs, signature, publicKey, hash)) === 'VALID';
}

function requireValid(certificate: X509, root: X509, now: Date): void {
  const { keyUsages, unknownCriticalExtensions } = certificate;
  const faults: [at: boolean, ConsentErrorCode, why: string][] = [
    [
      now < certificate.notBefore,
      'CERTIFICATE_NOT_YET_VALID',
      `is valid only from ${since(certificate)} on.`,
    ],
    [
      now > certificate.notAfter,
      'CERTIFICATE_EXPIRED',
      `expired on ${until(certificate)}: it must be renewed.`,
    ],
    [now < root.notBefore, 'ROOT_NOT_YET_VALID', `has a root that is valid only from ${since(root)} on.`],
    [now > root.notAfter, 'ROOT_EXPIRED', `has a root that expired on ${until(root)}: ask for the next one.`],
    [
      unknownCriticalExtensions.length > 0,
      'CERTIFICATE_EXTENSION_UNKNOWN',
      `has the critical extension ${unknownCriticalExtensions[0]}, which is not known here: have it issued without.`,
    ],
    [
      keyUsages?.includes('digitalSignature') === false,
      'CERTIFICATE_KEY_USAGE',
      'is not for signing: have one issued with the key usage digitalSignature.',
    ],
  ];
  const fault = faults.find(([at]) => at);
  if (fault !== undefined) throw refusal(fault[1], certificate, fault[2]);
}

function readRoots(pem: string): X509[] {
  const blocks = pemBlocks(pem)?.filter(({ label }) => label === 'CERTIFICATE') ?? [];
  if (blocks.length === 0) {
    throw new ConsentError('CERTIFICATE_MALFORMED', 'A root is not a certificate in PEM: give its PEM file.');
  }
  return blocks.map(({ bytes }) => {
    const root = parseCertificate(bytes);
    requireRoot(root);
    return root;
  });
}

/** Its signature is checked where it is first needed, which takes a promise. */
function requireRoot(root: X509): void {
  const { subjectKeyIdentifier: ski, authorityKeyIdentifier: aki } = root;
  const { subject, issuer } = certificateParts(root.der);
  const invalid = (why: string) => refusal('ROOT_INVALID', root, `cannot be a root: ${why}`);
  if (ski === undefined) throw invalid('it has no subject key identifier.');
  if (!equalBytes(subject, issuer) || (aki !== undefined && !equalBytes(aki, ski))) {
    throw refusal(
      'CERTIFICATE_CHAIN_TOO_LONG',
      root,
      'cannot be a root: another authority issued it. Give the self-signed root, which issues directly.',
    );
  }
  if (!root.isCa) throw invalid('its basic constraints do not make it an authority.');
  // Absent, the key may do everything, as in the roots that openssl req -x509 makes.
  if (root.keyUsages?.includes('keyCertSign') === false) throw invalid('its key usage is not keyCertSign.');
  const [unknown] = root.unknownCriticalExtensions;
  requireSigningKey(root.publicKey, `The key of the root ${nameOf(root)}`);
  if (unknown !== undefined) throw invalid(`its critical extension ${unknown} is not known here.`);
}

function refusal(code: ConsentErrorCode, certificate: X509, why: string): ConsentError {
  return new ConsentError(code, `The certificate of ${nameOf(certificate)} ${why}`);
}

/** Written by a stranger: quoted, and not at any length. */
function nameOf({ subject }: X509): string {
  return JSON.stringify(subject.slice(0, 100));
}

function since({ notBefore }: X509): string {
  return notBefore.toISOString();
}

function until({ notAfter }: X509): string {
  return notAfter.toISOString();
}
