import { insertCascade } from '../../database/revocationCascades.ts';
import { revoke } from '../../domain/certificate.ts';
import type { Handler } from '../context.ts';
import { changeCertificate } from './change.ts';

/** In force for creates and fulfillments from the commit on; a background job fails the measurements that rest on it. */
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
      const cascade = {
        party,
        certificate,
        revocationState,
        actor: call.principal.name,
        requestId: call.requestId,
      };
      return { after, alsoSave: () => insertCascade(tx, cascade, now) };
    },
  );
  exchange.bus.emit('work');
  return revoked;
};
