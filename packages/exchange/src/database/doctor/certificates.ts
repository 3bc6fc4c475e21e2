/**
 * Checks the certificates. Also finds pending measurements that depend on a certificate that is revoked or on hold.
 * Normally, a revocation stores a row in `revocation_cascades`, and a job then makes these measurements fail. The check
 * therefore reports a measurement only if its certificate has no row in that table.
 */
import { REVOCATION_STATES } from '@measurement-exchange/contract';
import { EXPIRING_DAYS } from '../../domain/certificate.ts';
import { literals } from '../db.ts';
import { PENDING } from '../measurements.ts';
import { checks, NAME, RESTORE } from './check.ts';

const DEPENDENCIES = `
  SELECT m.id AS measurement, m.consumer AS party, m.certificate FROM measurements m
   UNION
  SELECT r.measurement, r.provider, r.certificate FROM requisitions r
   UNION
  SELECT r.measurement, r.provider, r.result_certificate FROM requisitions r
   UNION
  SELECT c.id, c.duchy, c.certificate FROM computations c`;

export const certificateChecks = checks({
  'certificate-expiring': {
    severity: 'warning',
    meaning: `A certificate expires within ${EXPIRING_DAYS} days; nothing can be created or fulfilled with it then.`,
    remedy: 'Ask its party to register another certificate and to use that one.',
    names: `SELECT ${NAME.certificate} AS name FROM certificates c
      WHERE c.revocation_state IS NULL AND c.not_after BETWEEN now() AND now() + make_interval(days => $1)`,
    values: [EXPIRING_DAYS],
  },
  'revoked-pending': {
    meaning:
      'A pending measurement depends on a certificate that is revoked or on hold, and nothing will fail it.',
    remedy: `Cancel the measurement. ${RESTORE}`,
    names: `SELECT DISTINCT ${NAME.measurement} AS name FROM measurements m
       JOIN (${DEPENDENCIES}) AS needed ON needed.measurement = m.id
       JOIN certificates c ON c.party = needed.party AND c.id = needed.certificate
       LEFT JOIN revocation_cascades k ON k.party = c.party AND k.certificate = c.id
      WHERE ${PENDING} AND k.party IS NULL
        AND c.revocation_state IN (${literals(REVOCATION_STATES)})`,
  },
  'cascade-stuck': {
    meaning:
      'A certificate was revoked or put on hold a minute ago, and some measurements that depend on it have not failed.',
    remedy:
      'Make sure that an exchange runs on this database; its log says why the job cascadeRevocations fails.',
    names: `SELECT k.party || '/certificates/' || k.certificate AS name FROM revocation_cascades k
      WHERE k.time < now() - interval '60 seconds'`,
  },
  'key-shared': {
    severity: 'warning',
    meaning:
      'Two parties have certificates with the same subject key identifier: they share a key, or one of them registered ' +
      'a certificate that is not its own, with which it cannot sign.',
    remedy: 'Ask both parties whose key it is, and let the other one revoke its certificate.',
    names: `SELECT ${NAME.certificate} AS name FROM certificates c
      WHERE EXISTS (SELECT 1 FROM certificates other
                     WHERE other.subject_key_identifier = c.subject_key_identifier AND other.party <> c.party)`,
  },
});
