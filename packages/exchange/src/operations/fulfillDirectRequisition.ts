import { invalid, parseName, type RequestOf, type Requisition } from '@measurement-exchange/contract';
import { revokedCertificates, shareCertificates } from '../database/certificates.ts';
import { lockByRequisition } from '../database/measurements.ts';
import { rootsForParties } from '../database/trustedRoots.ts';
import { partyName } from '../domain/access.ts';
import { requireNoneRevoked } from '../domain/certificate.ts';
import { enforce, inspectResult } from '../domain/findings.ts';
import { fulfil } from '../domain/measurement.ts';
import { trustCheck } from '../domain/trust.ts';
import { changeMeasurement } from './changeMeasurement.ts';
import type { Call, Exchange } from './context.ts';
import { foundRequisition, viewOwn } from './requisitions.ts';

export async function fulfillDirectRequisition(
  x: Exchange,
  call: Call,
  request: RequestOf<'fulfillDirectRequisition'>,
): Promise<Requisition> {
  const { params, body } = request;
  const provider = partyName('dataProvider', params.dataProvider);
  const certificate = parseName('dataProviderCertificate', body.certificate)!;
  if (certificate.dataProvider !== params.dataProvider) {
    throw invalid([{ field: 'certificate', description: `must be a certificate of ${provider}` }]);
  }

  return changeMeasurement(x, call, {
    name: 'fulfillDirectRequisition',
    validateOnly: request.validateOnly,
    load: async (tx) => {
      const [aggregate, certificates, revoked, roots] = await Promise.all([
        lockByRequisition(tx, provider, params.requisition),
        shareCertificates(tx, [{ party: provider, id: certificate.certificate }]),
        // Not shared: a revocation that commits from here on comes after this fulfilment.
        revokedCertificates(tx, provider, params.requisition),
        rootsForParties(tx, [provider]),
      ]);
      return {
        aggregate: await foundRequisition(tx, aggregate, provider, params.requisition),
        certificate: certificates.get(body.certificate),
        revoked,
        roots,
      };
    },
    decide: (loaded, now) => {
      const input = {
        etag: body.etag,
        nonce: body.nonce,
        encryptedResult: body.encryptedResult,
        context: body.fulfillmentContext,
        certificate: loaded.certificate,
      };
      const change = fulfil(loaded.aggregate, params.requisition, input, now);
      requireNoneRevoked(loaded.revoked);
      call.findings = [
        ...inspectResult(body.encryptedResult.typeUrl),
        ...trustCheck(loaded.roots, now)('certificate', loaded.certificate!),
      ];
      if (!request.validateOnly) enforce(x.checks, call.findings);
      return change;
    },
    view: (after) => viewOwn(after, params.requisition),
  });
}
