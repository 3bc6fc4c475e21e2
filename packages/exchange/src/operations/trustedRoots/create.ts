/** Adds a root certificate that the operator trusts to issue certificates of parties. */
import { ConsentError, parseCertificate, requireRoot } from '@measurement-exchange/consent';
import { ExchangeError, invalid } from '@measurement-exchange/contract';
import { uniqueViolation } from '../../database/db.ts';
import { partyExists } from '../../database/parties.ts';
import { findTrustedRoot, insertTrustedRoot, type TrustedRootRecord } from '../../database/trustedRoots.ts';
import { partyNotFound } from '../../domain/party.ts';
import { readCertificate } from '../../domain/x509.ts';
import type { Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { trustedRootName, viewTrustedRoot } from './view.ts';

export const createTrustedRoot: Handler<'createTrustedRoot'> = async (exchange, call, request) => {
  const { body } = request;
  const certificate = readCertificate(body);
  await requireRoot(parseCertificate(certificate.x509Der)).catch((error) => {
    if (!(error instanceof ConsentError)) throw error;
    const field = body.x509Der === undefined ? 'x509Pem' : 'x509Der';
    const description = `must be a self-signed certificate of an authority: ${error.message}`;
    throw invalid([{ field, description }]);
  });
  const root: TrustedRootRecord = {
    ...certificate,
    id: exchange.newId(),
    party: body.party,
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
  } finally {
    exchange.principalsChanged();
  }
};
