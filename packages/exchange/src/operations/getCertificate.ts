import { type Certificate, ExchangeError, PREFERRED, type RequestOf } from '@measurement-exchange/contract';
import { PARTY_KINDS, partyName } from '../domain/access.ts';
import { getCertificate as get, getPreferredCertificate } from '../sql/parties.ts';
import type { Call, Exchange } from './context.ts';
import { viewCertificate } from './views.ts';

export async function getCertificate(
  x: Exchange,
  _call: Call,
  { params }: RequestOf<'getCertificate'>,
): Promise<Certificate> {
  const kind = PARTY_KINDS.find((k) => k in params)!;
  const party = partyName(kind, (params as Record<string, string>)[kind]!);
  const found =
    params.certificate === PREFERRED
      ? await getPreferredCertificate(x.db, party, x.clock())
      : await get(x.db, party, params.certificate);
  if (found === undefined) {
    const name = `${party}/certificates/${params.certificate}`;
    throw new ExchangeError('CERTIFICATE_NOT_FOUND', `${name} does not exist.`, {
      metadata: { [`${kind}Certificate`]: name },
    });
  }
  return viewCertificate(found);
}
