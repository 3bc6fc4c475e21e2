import { insertCascade } from '../../database/revocationCascades.ts';
import { revoke } from '../../domain/certificate.ts';
import { authorOf, type Handler } from '../context.ts';
import { changeCertificate } from './change.ts';

/**
 * Later requests see the revocation or the hold immediately. A background job fails the measurements that depend on the
 * certificate.
 */
export const revokeCertificate: Handler<'revokeCertificate'> = async (exchange, call, request) => {
  const { revocationState } = request.body;
  const revoked = await changeCertificate(
    'revokeCertificate',
    exchange,
    call,
    request,
    async (tx, before, now) => {
      const after = revoke(before, revocationState);
      const { party, id: certificate } = after;
      const { actor, requestId } = authorOf(call);
      const cascade = { party, certificate, revocationState, actor, requestId };
      return { after, alsoSave: () => insertCascade(tx, cascade, now) };
    },
  ).finally(exchange.principalsChanged);
  exchange.bus.emit('work');
  return revoked;
};
