/** Checks that every reference points to an existing row of the right party. */
import { checks, NAME, unionAll } from './check.ts';

/** Every reference to a certificate, with the party that must own the certificate. */
const CERTIFICATE_REFERENCES = unionAll(
  `SELECT ${NAME.measurement} AS name, m.consumer AS party, m.certificate AS id FROM measurements m`,
  `SELECT ${NAME.requisition}, r.provider, r.certificate FROM requisitions r`,
  `SELECT ${NAME.requisition}, r.provider, r.result_certificate FROM requisitions r
    WHERE r.result_certificate IS NOT NULL`,
  `SELECT ${NAME.measurement}, m.result_duchy, m.result_certificate FROM measurements m
    WHERE m.result_certificate IS NOT NULL`,
  `SELECT ${NAME.computation}, c.duchy, c.certificate FROM computations c WHERE c.certificate IS NOT NULL`,
  `SELECT p.name, p.name, p.public_key_certificate FROM parties p WHERE p.public_key_certificate IS NOT NULL`,
  `SELECT 'revocation of ' || k.party || '/certificates/' || k.certificate, k.party, k.certificate
    FROM revocation_cascades k`,
);

const PARTY_REFERENCES = unionAll(
  `SELECT ${NAME.certificate} AS name, c.party FROM certificates c`,
  `SELECT ${NAME.computation}, c.duchy FROM computations c`,
  `SELECT ${NAME.descriptor}, d.provider FROM event_group_metadata_descriptors d`,
  `SELECT ${NAME.eventGroup}, unnest(ARRAY[e.provider, e.consumer]) FROM event_groups e`,
  `SELECT ${NAME.report}, q.consumer FROM reports q`,
  `SELECT ${NAME.principal}, p.resource FROM principals p WHERE p.resource <> 'operator'`,
  `SELECT ${NAME.trustedRoot}, t.party FROM trusted_roots t WHERE t.party IS NOT NULL`,
);

const ENTRY = `'measurement ' || e.measurement || ' of ' || e.consumer || '/reports/' || e.report`;

export const referenceChecks = checks({
  'certificate-owner': {
    meaning: 'A row refers to a certificate that its party does not have.',
    names: `SELECT name FROM (${CERTIFICATE_REFERENCES}) AS reference LEFT JOIN certificates c USING (party, id)
      WHERE c.party IS NULL`,
  },
  orphan: {
    meaning: 'A row belongs to something that does not exist.',
    names: unionAll(
      `SELECT reference.name FROM (${PARTY_REFERENCES}) AS reference LEFT JOIN parties ON parties.name = reference.party
        WHERE parties.name IS NULL`,
      `SELECT ${NAME.requisition} FROM requisitions r LEFT JOIN measurements m ON m.id = r.measurement
        WHERE m.id IS NULL`,
      `SELECT ${NAME.requisition} FROM requisition_tombstones r
        LEFT JOIN measurement_tombstones m ON m.id = r.measurement WHERE m.id IS NULL`,
      `SELECT 'transition of ' || t.measurement FROM transitions t LEFT JOIN measurements m ON m.id = t.measurement
        WHERE m.id IS NULL`,
      `SELECT 'transition of ' || t.measurement || ' ' || t.requisition FROM transitions t
         LEFT JOIN requisitions r ON r.id = t.requisition AND r.measurement = t.measurement
         LEFT JOIN computations c ON c.duchy = t.requisition AND c.id = t.measurement
        WHERE t.requisition <> '' AND r.id IS NULL AND c.id IS NULL`,
      `SELECT ${NAME.computation} FROM computations c LEFT JOIN measurements m ON m.id = c.id WHERE m.id IS NULL`,
      `SELECT 'report of ' || l.duchy || ' on ' || l.computation FROM computation_log l
        LEFT JOIN computations c ON c.id = l.computation AND c.duchy = l.duchy WHERE c.id IS NULL`,
      `SELECT ${ENTRY} FROM report_measurements e LEFT JOIN reports q ON q.consumer = e.consumer AND q.id = e.report
        WHERE q.id IS NULL`,
      `SELECT ${ENTRY} FROM report_measurements e
         LEFT JOIN measurements m ON m.id = e.measurement AND m.consumer = e.consumer
         LEFT JOIN measurement_tombstones t ON t.id = e.measurement AND t.consumer = e.consumer
        WHERE m.id IS NULL AND t.id IS NULL`,
      `SELECT 'type ' || t.type_name || ' of ' || t.descriptor FROM descriptor_types t
        LEFT JOIN event_group_metadata_descriptors d ON d.id = t.descriptor WHERE d.id IS NULL`,
      `SELECT ${NAME.eventGroup} FROM event_groups e LEFT JOIN event_group_metadata_descriptors d ON d.id = e.descriptor
        WHERE e.descriptor IS NOT NULL AND d.id IS NULL`,
      `SELECT 'model line ' || l.model_line FROM population_model_lines l LEFT JOIN populations o ON o.id = l.population
        WHERE o.id IS NULL`,
    ),
  },
});
