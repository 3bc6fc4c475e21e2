import { nonceHashes } from '@measurement-exchange/consent';
import { invalid, parseName } from '@measurement-exchange/contract';
import { lockCertificatesForShare, revokedCertificates } from '../../database/certificates.ts';
import { rootsForParties } from '../../database/trustedRoots.ts';
import { saveMeasurements } from '../../database/writeMeasurements.ts';
import { partyName } from '../../domain/access.ts';
import { requireNoneRevoked } from '../../domain/certificate.ts';
import { trustFindings } from '../../domain/consent.ts';
import { fulfill } from '../../domain/measurement.ts';
import { inspectResult } from '../../domain/typeUrls.ts';
import { authorOf, type Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { trustCheck } from '../trust.ts';
import { lockRequisition } from './lock.ts';
import { viewOwn } from './view.ts';

export const fulfillDirectRequisition: Handler<'fulfillDirectRequisition'> = async (
  exchange,
  call,
  request,
) => {
  const { params, body } = request;
  const provider = partyName('dataProvider', params.dataProvider);
  const named = parseName('dataProviderCertificate', body.certificate)!;
  if (named.dataProvider !== params.dataProvider) {
    throw invalid([{ field: 'certificate', description: `must be a certificate of ${provider}` }]);
  }

  return mutate('fulfillDirectRequisition', exchange, call, request, async (tx) => {
    const [before, certificates, revoked, roots, hashes] = await Promise.all([
      lockRequisition(tx, provider, params.requisition),
      lockCertificatesForShare(tx, [{ party: provider, id: named.certificate }]),
      // This query does not lock the certificates that it checks: a revocation that commits after the query counts as
      // later than the fulfillment.
      revokedCertificates(tx, provider, params.requisition),
      rootsForParties(tx, [provider]),
      nonceHashes(body.nonce),
    ]);
    const now = exchange.clock();
    const certificate = certificates.get(body.certificate);
    const input = {
      etag: body.etag,
      nonce: body.nonce,
      nonceHashes: hashes,
      encryptedResult: body.encryptedResult,
      context: body.fulfillmentContext,
      certificate,
    };
    const change = fulfill(before, params.requisition, input, now);
    requireNoneRevoked(revoked);
    return {
      findings: [
        ...inspectResult(body.encryptedResult.typeUrl),
        ...trustFindings('certificate', await trustCheck(roots, now)(certificate!)),
      ],
      save: () => saveMeasurements(tx, [{ before, change }], authorOf(call)),
      view: () => viewOwn(change.after, params.requisition),
    };
  });
};
