import { revokedOfComputation } from '../../database/certificates.ts';
import { requireNoneRevoked } from '../../domain/certificate.ts';
import { confirm } from '../../domain/computation.ts';
import type { Handler } from '../context.ts';
import { changeComputation } from './change.ts';

export const confirmComputation: Handler<'confirmComputation'> = (exchange, call, request) =>
  changeComputation(
    'confirmComputation',
    exchange,
    call,
    request,
    (tx) => revokedOfComputation(tx, request.params.computation),
    (before, duchy, revoked) => {
      const change = confirm(before, duchy, request.body, exchange.clock());
      if (change.steps.length > 0) requireNoneRevoked(revoked);
      return { change };
    },
  );
