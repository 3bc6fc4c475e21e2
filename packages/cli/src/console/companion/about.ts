/** Describes a party's certificate and the roots that the party trusts, so that people can compare fingerprints. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { About, CertificateFacts } from '@measurement-exchange/console/companion';
import type { Acting } from '../../connection/credentials.ts';
import { describeKeys } from '../../keys/describe.ts';

export async function about({ credentials, identity, client, trust, duchies }: Acting): Promise<About> {
  const { x509Der } = await client.getCertificate({ name: credentials.certificate });
  const [certificate] = await factsOf(x509Der);
  const isOwn = new X509Certificate(x509Der).checkPrivateKey(createPrivateKey(credentials.privateKeyPem));
  const roots = (await trust.roots()).map(async ({ party, pem }) =>
    (await factsOf(Buffer.from(pem))).map((root) => ({ ...(party !== undefined && { party }), ...root })),
  );
  return {
    principal: credentials.name,
    ...(identity !== undefined && { identity }),
    certificate: { name: credentials.certificate, isOwn, ...certificate! },
    roots: (await Promise.all(roots)).flat(),
    duchies,
  };
}

async function factsOf(bytes: Uint8Array): Promise<CertificateFacts[]> {
  const described = await describeKeys(bytes);
  return described.flatMap((facts) => {
    if (facts.kind !== 'certificate') return [];
    const { subject, fingerprint, notBefore, notAfter } = facts;
    return [{ subject, fingerprint, notBefore, notAfter }];
  });
}
