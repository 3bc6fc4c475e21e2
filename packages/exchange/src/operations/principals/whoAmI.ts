import type { Handler } from '../context.ts';

export const whoAmI: Handler<'whoAmI'> = async (_exchange, call) => ({
  principal: call.principal.name,
  issuer: call.issuer,
  subject: call.subject,
});
