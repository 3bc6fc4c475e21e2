import type { Certificate, Operation, Timestamp } from '@measurement-exchange/contract';
import { type CertificateRecord, lockCertificate, updateCertificate } from '../../database/certificates.ts';
import type { Transaction } from '../../database/db.ts';
import { partyOf } from '../../domain/access.ts';
import type { Call, Exchange } from '../context.ts';
import { mutate } from '../mutate.ts';
import { requireFound, viewCertificate } from './view.ts';

export function changeCertificate(
  operation: Operation,
  exchange: Exchange,
  call: Call,
  request: { params: { certificate: string }; path: string; validateOnly: boolean },
  decide: (
    tx: Transaction,
    before: CertificateRecord,
    now: Timestamp,
  ) => Promise<{ after: CertificateRecord; alsoSave?: () => void }>,
): Promise<Certificate> {
  return mutate(operation, exchange, call, request, async (tx) => {
    const party = partyOf(request.path);
    const before = requireFound(await lockCertificate(tx, party, request.params.certificate), request.path);
    const now = exchange.clock();
    const { after, alsoSave } = await decide(tx, before, now);
    const save = () => {
      alsoSave?.();
      updateCertificate(tx, after, now);
    };
    return {
      save: after.version === before.version ? undefined : save,
      versions: [{ name: request.path, version: after.version, time: now }],
      view: () => viewCertificate(after),
    };
  });
}
