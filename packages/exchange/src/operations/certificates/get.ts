import { PREFERRED } from '@measurement-exchange/contract';
import { getCertificate as get, getPreferredCertificate } from '../../database/certificates.ts';
import { partyOf } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { requireFound, viewCertificate } from './view.ts';

export const getCertificate: Handler<'getCertificate'> = async (exchange, _call, { params, path }) => {
  const party = partyOf(path);
  const certificate =
    params.certificate === PREFERRED
      ? await getPreferredCertificate(exchange.db, party, exchange.clock())
      : await get(exchange.db, party, params.certificate);
  return viewCertificate(requireFound(certificate, path));
};
