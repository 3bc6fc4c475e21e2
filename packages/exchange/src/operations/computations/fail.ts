import type { Computation, RequestOf } from '@measurement-exchange/contract';
import { giveUp } from '../../domain/computation.ts';
import type { Call, Exchange } from '../context.ts';
import { changeComputation } from './change.ts';

export function failComputation(
  exchange: Exchange,
  call: Call,
  request: RequestOf<'failComputation'>,
): Promise<Computation> {
  return changeComputation(
    'failComputation',
    exchange,
    call,
    request,
    async () => undefined,
    (before, duchy) => ({ change: giveUp(before, duchy, request.body, exchange.clock()) }),
  );
}
