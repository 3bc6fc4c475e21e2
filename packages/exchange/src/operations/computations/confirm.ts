import type { Computation, RequestOf } from '@measurement-exchange/contract';
import { confirm } from '../../domain/computation.ts';
import type { Call, Exchange } from '../context.ts';
import { changeComputation } from './change.ts';

export function confirmComputation(
  exchange: Exchange,
  call: Call,
  request: RequestOf<'confirmComputation'>,
): Promise<Computation> {
  return changeComputation(
    'confirmComputation',
    exchange,
    call,
    request,
    async () => undefined,
    (before, duchy) => confirm(before, duchy, request.body),
  );
}
