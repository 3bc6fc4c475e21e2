import { insertCascade } from '../../database/revocationCascades.ts';
import { revoke } from '../../domain/certificate.ts';
import { authorOf, type Handler } from '../context.ts';
import { changeCertificate } from './change.ts';

/**
 * Revokes a certificate or puts it on hold. Later operations see the change immediately. Authentication on other
 * replicas sees it within 30 s. A background job fails the measurements that depend on the certificate.
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
