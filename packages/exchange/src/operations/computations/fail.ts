import { giveUp } from '../../domain/computation.ts';
import type { Handler } from '../context.ts';
import { changeComputation } from './change.ts';

export const failComputation: Handler<'failComputation'> = (exchange, call, request) =>
  changeComputation(
    'failComputation',
    exchange,
    call,
    request,
    async () => undefined,
    (before, duchy) => ({ change: giveUp(before, duchy, request.body, exchange.clock()) }),
  );
