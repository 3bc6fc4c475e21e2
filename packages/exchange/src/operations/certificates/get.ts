import { type Certificate, PREFERRED, type RequestOf } from '@measurement-exchange/contract';
import { getCertificate as get, getPreferredCertificate } from '../../database/certificates.ts';
import type { Call, Exchange } from '../context.ts';
import { partyOf, requireFound, viewCertificate } from './view.ts';

export async function getCertificate(
  exchange: Exchange,
  _call: Call,
  { params, path }: RequestOf<'getCertificate'>,
): Promise<Certificate> {
  const party = partyOf(path);
  const certificate =
    params.certificate === PREFERRED
      ? await getPreferredCertificate(exchange.db, party, exchange.clock())
      : await get(exchange.db, party, params.certificate);
  return viewCertificate(requireFound(certificate, path));
}
