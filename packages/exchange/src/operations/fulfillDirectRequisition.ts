import { invalid, parseName, type RequestOf, type Requisition } from '@measurement-exchange/contract';
import { partyName } from '../domain/access.ts';
import { enforce, inspectResult } from '../domain/findings.ts';
import { fulfil } from '../domain/measurement.ts';
import { lockByRequisition } from '../sql/measurements.ts';
import { shareCertificates } from '../sql/parties.ts';
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
  call.findings = inspectResult(body.encryptedResult.typeUrl);

  const after = await changeMeasurement(x, call, {
    name: 'fulfillDirectRequisition',
    validateOnly: request.validateOnly,
    load: async (tx) => {
      const [aggregate, certificates] = await Promise.all([
        lockByRequisition(tx, provider, params.requisition),
        shareCertificates(tx, [{ party: provider, id: certificate.certificate }]),
      ]);
      return {
        aggregate: foundRequisition(aggregate, provider, params.requisition),
        certificate: certificates.get(body.certificate),
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
      if (!request.validateOnly) enforce(x.checks, call.findings);
      return change;
    },
  });
  return viewOwn(after, params.requisition, request.validateOnly, call.findings);
}
