/** Trusts a root: the exchange checks the certificates of parties against it. */
import { X509Certificate } from 'node:crypto';
import { ExchangeError, invalid, type RequestOf, type TrustedRoot } from '@measurement-exchange/contract';
import { uniqueViolation } from '../../database/db.ts';
import { partyExists } from '../../database/parties.ts';
import { findTrustedRoot, insertTrustedRoot, type TrustedRootRecord } from '../../database/trustedRoots.ts';
import { partyNotFound } from '../../domain/party.ts';
import { readCertificate } from '../../domain/x509.ts';
import type { Call, Exchange } from '../context.ts';
import { mutate } from '../mutate.ts';
import { trustedRootName, viewTrustedRoot } from './view.ts';

export async function createTrustedRoot(
  exchange: Exchange,
  call: Call,
  request: RequestOf<'createTrustedRoot'>,
): Promise<TrustedRoot> {
  const { body } = request;
  const certificate = readCertificate(body);
  if (!isRoot(certificate.x509Der)) {
    const field = body.x509Der === undefined ? 'x509Pem' : 'x509Der';
    throw invalid([{ field, description: 'must be a self-signed certificate of an authority' }]);
  }
  const root: TrustedRootRecord = {
    id: exchange.newId(),
    party: body.party,
    x509Der: certificate.x509Der,
    subjectKeyIdentifier: certificate.subjectKeyIdentifier,
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    createTime: exchange.clock(),
  };
  try {
    return await mutate('createTrustedRoot', exchange, call, request, async (tx) => {
      if (body.party !== undefined && !(await partyExists(tx, body.party))) throw partyNotFound(body.party);
      return {
        save: () => insertTrustedRoot(tx, root),
        savesToValidate: true,
        versions: [{ name: trustedRootName(root.id), version: 1, time: root.createTime }],
        view: () => viewTrustedRoot(root),
      };
    });
  } catch (error) {
    if (uniqueViolation(error) !== 'trusted_roots_der') throw error;
    const existing = await findTrustedRoot(exchange.db, root);
    throw new ExchangeError('TRUSTED_ROOT_ALREADY_EXISTS', 'This root is trusted already.', {
      metadata: existing ? { existing: trustedRootName(existing.id) } : {},
    });
  }
}

function isRoot(der: Uint8Array): boolean {
  const root = new X509Certificate(der);
  return root.ca && root.checkIssued(root) && root.verify(root.publicKey);
}
