import { nonceHashes } from '@measurement-exchange/consent';
import { revokedOfComputation } from '../../database/certificates.ts';
import { requireNoneRevoked } from '../../domain/certificate.ts';
import { fulfillRequisition } from '../../domain/computation.ts';
import type { Handler } from '../context.ts';
import { changeComputation } from './change.ts';

export const fulfillComputationRequisition: Handler<'fulfillComputationRequisition'> = (
  exchange,
  call,
  request,
) => {
  const { params, body } = request;
  return changeComputation(
    'fulfillComputationRequisition',
    exchange,
    call,
    request,
    (tx) => Promise.all([revokedOfComputation(tx, params.computation), nonceHashes(body.nonce)]),
    (before, duchy, [revoked, hashes]) => {
      const { etag, requisition, nonce, fulfillmentContext: context } = body;
      const input = { etag, requisition, nonce, nonceHashes: hashes, context };
      const change = fulfillRequisition(before, duchy, input, exchange.clock());
      if (change.steps.length > 0) requireNoneRevoked(revoked);
      return { change };
    },
  );
};
