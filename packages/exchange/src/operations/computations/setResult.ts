import { lockCertificatesForShare, revokedOfComputation } from '../../database/certificates.ts';
import { rootsForParties } from '../../database/trustedRoots.ts';
import { partyName } from '../../domain/access.ts';
import { requireNoneRevoked } from '../../domain/certificate.ts';
import { setResult } from '../../domain/computation.ts';
import { trustFindings } from '../../domain/consent.ts';
import { inspectResult } from '../../domain/typeUrls.ts';
import type { Handler } from '../context.ts';
import { trustCheck } from '../trust.ts';
import { changeComputation } from './change.ts';
import { requireOwnCertificate } from './setParameters.ts';

export const setComputationResult: Handler<'setComputationResult'> = async (exchange, call, request) => {
  const { params, body } = request;
  const id = requireOwnCertificate(params.duchy, body.certificate);
  const party = partyName('duchy', params.duchy);
  return changeComputation(
    'setComputationResult',
    exchange,
    call,
    request,
    (tx) =>
      Promise.all([
        lockCertificatesForShare(tx, [{ party, id }]),
        // This query does not lock the certificates that it checks: a revocation that commits after the query counts as
        // later than the result.
        revokedOfComputation(tx, params.computation),
        rootsForParties(tx, [party]),
      ]),
    async (before, duchy, [certificates, revoked, roots]) => {
      const now = exchange.clock();
      const certificate = certificates.get(body.certificate);
      const { etag, encryptedResult } = body;
      const change = setResult(before, duchy, { etag, certificate, encryptedResult }, now);
      if (change.steps.length > 0) requireNoneRevoked(revoked);
      const why = certificate && (await trustCheck(roots, now)(certificate));
      return {
        change,
        findings: [...inspectResult(encryptedResult.typeUrl), ...trustFindings('certificate', why)],
      };
    },
  );
};
