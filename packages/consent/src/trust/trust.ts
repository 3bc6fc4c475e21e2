/** Decides which certificates a party trusts, based on the root certificates that it trusts. */
import { cut, equalBytes, findSignatureAlgorithm, signatureHash } from '@measurement-exchange/contract';
import { cacheByObject } from '../base/cache.ts';
import { ConsentError, type ConsentErrorCode } from '../base/errors.ts';
import {
  cachedCertificate,
  certificateParts,
  parseCertificate,
  partyUri,
  type X509,
} from '../certificates/certificates.ts';
import { pemBlocks } from '../certificates/pem.ts';
import { checkSignature, requireSigningKey } from '../signatures/signatures.ts';

/** Root certificates (one or more, in PEM) and the party that they are trusted for. */
export interface TrustedRoot {
  /**
   * The party for which the root is allowed to issue certificates. If undefined, the root is allowed to issue
   * certificates for every party that has no root of its own. Each of these certificates must name its party in a
   * subject alternative name, such as `mex:dataProviders/streamly`.
   */
  party?: string;
  pem: string;
}

export interface TrustStore {
  /**
   * Returns the parsed certificate. Throws unless the certificate was issued by a root that is trusted for the party.
   * Throws unless the certificate and the root are valid at `now`, and the certificate is for signing. Also throws if
   * the certificate names only other parties, or names no party although its root is trusted for other parties too.
   */
  verify(party: string, certificateDer: Uint8Array, now: Date): Promise<X509>;
}

export interface Root {
  /**
   * The party for which the root is allowed to issue certificates. Undefined means all parties without their own root.
   */
  party: string | undefined;
  x509: X509;
}

/**
 * Creates a trust store with these roots. Throws if a root breaks a rule for roots. For example, each root must name
 * itself as its issuer and must be allowed to issue certificates.
 */
export function createTrustStore(roots: readonly TrustedRoot[]): TrustStore {
  const known = roots.flatMap(({ party, pem }) =>
    readRoots(pem).map((root): Root => ({ party, x509: root })),
  );
  return {
    async verify(party, certificateDer, now) {
      const certificate = cachedCertificate(certificateDer);
      const issuers = await issuersOf(certificate, party, known);
      requirePartyName(certificate, party, issuers, known);
      requireCurrent(certificate, now);
      requireRootCurrent(certificate, issuers, now);
      requireForSigning(certificate);
      // Return a copy, so that the caller cannot change the cached certificate.
      return structuredClone(certificate);
    },
  };
}

/**
 * Throws if the certificate names no party, and its root is also trusted for other parties. Without this check, the
 * exchange could take such a certificate and present it as the certificate of another party.
 */
function requirePartyName(certificate: X509, party: string, issuers: X509[], known: readonly Root[]): void {
  const isOfPartyAlone = ({ publicKey }: X509) =>
    known.every((root) => root.party === party || !equalBytes(root.x509.publicKey.spki, publicKey.spki));
  if (certificate.parties.length > 0 || issuers.some(isOfPartyAlone)) return;
  throw rejection(
    'CERTIFICATE_NAMES_NO_PARTY',
    certificate,
    `does not say that it is of ${party}, and its root issues for others too: have it issued with the subject ` +
      `alternative name URI:${partyUri(party)}, or trust the root for this party alone.`,
  );
}

/**
 * Throws unless the certificate is for signing and was issued by a root that is trusted for the party and valid at
 * `now`. The root must have issued the certificate directly, without an intermediate authority. This function does not
 * check whether the certificate itself is valid at `now`.
 */
export async function requireTrusted(
  certificate: X509,
  party: string,
  roots: readonly Root[],
  now: Date,
): Promise<void> {
  requireRootCurrent(certificate, await issuersOf(certificate, party, roots), now);
  requireForSigning(certificate);
}

/**
 * The OIDs of the key purposes that allow client authentication: clientAuth and anyExtendedKeyUsage (RFC 5280,
 * 4.2.1.12).
 */
const CLIENT_PURPOSES = ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0'];

/**
 * Throws unless the certificate is valid at `now` and is allowed to authenticate a TLS client. Does not check the root,
 * because `requireTrusted` checks the root.
 */
export function requireForClient(certificate: X509, now: Date): void {
  requireCurrent(certificate, now);
  requireForSigning(certificate);
  const { extendedKeyUsages } = certificate;
  if (extendedKeyUsages === undefined || extendedKeyUsages.some((oid) => CLIENT_PURPOSES.includes(oid)))
    return;
  const why = 'is not for clients: have one issued with the extended key usage clientAuth, or without any.';
  throw rejection('CERTIFICATE_KEY_USAGE', certificate, why);
}

/** Returns the roots that issued the certificate and are trusted for the party. Throws if no root qualifies. */
async function issuersOf(certificate: X509, party: string, roots: readonly Root[]): Promise<X509[]> {
  const named = namedIssuers(certificate, party, roots).map((root) => root.x509);
  const checked = await Promise.allSettled(named.map((root) => issuedBy(root)(certificate)));
  const issuers = named.filter((_, i) => checked[i]!.status === 'fulfilled');
  if (issuers.length === 0) throw (checked[0] as PromiseRejectedResult).reason;
  return issuers;
}

/**
 * Returns the roots that the certificate names as issuer and that are trusted for the party. Throws if no root
 * qualifies, if the certificate belongs to an authority, or if it names only other parties.
 */
function namedIssuers(certificate: X509, party: string, known: readonly Root[]): Root[] {
  const { authorityKeyIdentifier } = certificate;
  if (certificate.isCa) {
    const why =
      'is one of an authority, not of a signer: parties sign with certificates that their root issued directly.';
    throw rejection('CERTIFICATE_CHAIN_TOO_LONG', certificate, why);
  }
  if (authorityKeyIdentifier === undefined) {
    const why = 'does not name its issuer: have it issued again with an authority key identifier.';
    throw rejection('CERTIFICATE_UNTRUSTED', certificate, why);
  }
  if (certificate.parties.length > 0 && !certificate.parties.includes(party)) {
    const owner = JSON.stringify(cut(certificate.parties[0]!, 100));
    const why = `is of ${owner}, not of ${party}: reject what it signed.`;
    throw rejection('CERTIFICATE_OF_ANOTHER_PARTY', certificate, why);
  }
  const named = known.filter(
    ({ x509: { subjectKeyIdentifier: ski } }) => ski !== undefined && equalBytes(ski, authorityKeyIdentifier),
  );
  const hasOwn = known.some((root) => root.party === party);
  const issuers = named.filter((root) => root.party === (hasOwn ? party : undefined));
  if (issuers.length > 0) return issuers;
  const other = named.find((root) => root.party !== undefined);
  if (other !== undefined) {
    const remedy = hasOwn
      ? 'reject what it signed.'
      : `no root of ${party} is here; add its root, when you have it from the party itself.`;
    const why = `was issued by the root of ${other.party}, which does not vouch for ${party}: ${remedy}`;
    throw rejection('CERTIFICATE_OF_ANOTHER_PARTY', certificate, why);
  }
  throw rejection(
    'CERTIFICATE_UNTRUSTED',
    certificate,
    `was not issued by a root that is trusted for ${party}: add its root, when you have it from the party ` +
      'itself; certificates that an intermediate authority issued cannot be trusted.',
  );
}

/**
 * Returns a function that throws unless the root issued the certificate. If the check succeeds, this outcome is cached,
 * because the same check would always succeed again.
 */
const issuedBy = cacheByObject((root: X509) =>
  cacheByObject((certificate: X509) => requireIssued(certificate, root)),
);

async function requireIssued(certificate: X509, root: X509): Promise<void> {
  const { signatureAlgorithm } = certificateParts(certificate.der);
  if (findSignatureAlgorithm(signatureAlgorithm) === undefined) {
    const why = `is signed with the algorithm ${signatureAlgorithm}: have it issued again with ECDSA or RSA and SHA-2.`;
    throw rejection('SIGNATURE_ALGORITHM_UNKNOWN', certificate, why);
  }
  if (!(await isIssuedBy(certificate, root))) {
    const why = `names the key of ${nameOf(root)} as its issuer, which did not issue it: reject what it signed.`;
    throw rejection('CERTIFICATE_NOT_ISSUED_BY_ROOT', certificate, why);
  }
  await requireRoot(root);
}

/** Returns whether the certificate names the issuer, and the issuer's key signed it. Does not check any dates. */
export async function isIssuedBy(certificate: X509, issuer: X509): Promise<boolean> {
  // Compare the names as bytes, because an issuer copies its own name unchanged into the certificate.
  const isNamed = equalBytes(certificateParts(certificate.der).issuer, certificateParts(issuer.der).subject);
  return isNamed && (await isIssuedWith(certificate, issuer));
}

async function isIssuedWith(certificate: X509, { publicKey }: X509): Promise<boolean> {
  const { tbs, signature, signatureAlgorithm } = certificateParts(certificate.der);
  const hash = signatureHash(signatureAlgorithm, publicKey);
  return hash !== undefined && (await checkSignature(tbs, signature, publicKey, hash)) === 'VALID';
}

function requireCurrent(certificate: X509, now: Date): void {
  if (now < certificate.notBefore) {
    const why = `is valid only from ${certificate.notBefore.toISOString()} on.`;
    throw rejection('CERTIFICATE_NOT_YET_VALID', certificate, why);
  }
  if (now > certificate.notAfter) {
    const why = `expired on ${certificate.notAfter.toISOString()}: it must be renewed.`;
    throw rejection('CERTIFICATE_EXPIRED', certificate, why);
  }
}

/**
 * Throws unless at least one of `roots`, the roots that issued the certificate, is valid at `now`. More than one root
 * can have issued the certificate, because a renewed root has the same name and key as its predecessor.
 */
function requireRootCurrent(certificate: X509, roots: X509[], now: Date): void {
  if (roots.some(({ notBefore, notAfter }) => notBefore <= now && now <= notAfter)) return;
  const root = roots[0]!;
  if (now < root.notBefore) {
    const why = `has a root that is valid only from ${root.notBefore.toISOString()} on.`;
    throw rejection('ROOT_NOT_YET_VALID', certificate, why);
  }
  const why = `has a root that expired on ${root.notAfter.toISOString()}: ask for the next one.`;
  throw rejection('ROOT_EXPIRED', certificate, why);
}

function requireForSigning(certificate: X509): void {
  const [unknown] = certificate.unknownCriticalExtensions;
  if (unknown !== undefined) {
    const why = `has the critical extension ${unknown}, which is not known here: have it issued without.`;
    throw rejection('CERTIFICATE_EXTENSION_UNKNOWN', certificate, why);
  }
  if (certificate.subjectKeyIdentifier === undefined) {
    const why = 'does not name its own key: have it issued again with a subject key identifier.';
    throw rejection('CERTIFICATE_UNTRUSTED', certificate, why);
  }
  if (certificate.keyUsages?.includes('digitalSignature') === false) {
    const why = 'is not for signing: have one issued with the key usage digitalSignature.';
    throw rejection('CERTIFICATE_KEY_USAGE', certificate, why);
  }
}

function readRoots(pem: string): X509[] {
  const blocks = pemBlocks(pem)?.filter(({ label }) => label === 'CERTIFICATE') ?? [];
  if (blocks.length === 0) {
    throw new ConsentError('CERTIFICATE_MALFORMED', 'A root is not a certificate in PEM: give its PEM file.');
  }
  return blocks.map(({ bytes }) => {
    const root = parseCertificate(bytes);
    requireRootRules(root);
    return root;
  });
}

/** Throws unless the certificate can be a root: it must be self-signed and allowed to issue certificates. */
export async function requireRoot(root: X509): Promise<void> {
  requireRootRules(root);
  if (!(await isIssuedWith(root, root))) {
    throw rejection('ROOT_INVALID', root, 'is a root that did not sign itself.');
  }
}

/**
 * Throws if the certificate breaks a rule for roots. Does not check the certificate's signature, because that check is
 * asynchronous and this function is synchronous.
 */
function requireRootRules(root: X509): void {
  const { subjectKeyIdentifier: ski, authorityKeyIdentifier: aki } = root;
  const { subject, issuer } = certificateParts(root.der);
  const invalid = (why: string) => rejection('ROOT_INVALID', root, `cannot be a root: ${why}`);
  if (ski === undefined) throw invalid('it has no subject key identifier.');
  if (!equalBytes(subject, issuer) || (aki !== undefined && !equalBytes(aki, ski))) {
    const why =
      'cannot be a root: another authority issued it. Give the self-signed root, which issues directly.';
    throw rejection('CERTIFICATE_CHAIN_TOO_LONG', root, why);
  }
  if (!root.isCa) throw invalid('its basic constraints do not make it an authority.');
  // A certificate without key usages allows any use. Roots created by `openssl req -x509` have no key usages.
  if (root.keyUsages?.includes('keyCertSign') === false) throw invalid('its key usage is not keyCertSign.');
  const [unknown] = root.unknownCriticalExtensions;
  requireSigningKey(root.publicKey, `The key of the root ${nameOf(root)}`);
  if (unknown !== undefined) throw invalid(`its critical extension ${unknown} is not known here.`);
}

function rejection(code: ConsentErrorCode, certificate: X509, why: string): ConsentError {
  return new ConsentError(code, `The certificate of ${nameOf(certificate)} ${why}`);
}

/** Returns a certificate's subject, quoted and truncated, because it is untrusted text. */
function nameOf({ subject }: X509): string {
  return JSON.stringify(cut(subject, 100));
}
