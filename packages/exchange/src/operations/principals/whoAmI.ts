import type { RequestOf, WhoAmI } from '@measurement-exchange/contract';
import type { Call, Exchange } from '../context.ts';

export async function whoAmI(
  _exchange: Exchange,
  call: Call,
  _request: RequestOf<'whoAmI'>,
): Promise<WhoAmI> {
  return { principal: call.principal.name, issuer: call.issuer, subject: call.subject };
}
