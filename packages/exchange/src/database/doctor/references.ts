/** Checks that the rows to which others refer exist, and belong to the right party. */
import {
  CERTIFICATE_NAME,
  COMPUTATION_NAME,
  checks,
  DESCRIPTOR_NAME,
  EVENT_GROUP_NAME,
  MEASUREMENT_NAME,
  PRINCIPAL_NAME,
  REQUISITION_NAME,
  TRUSTED_ROOT_NAME,
} from './check.ts';

/** Each certificate that something names, with the party that must own it. */
const CERTIFICATE_REFERENCES = `
  SELECT ${MEASUREMENT_NAME} AS name, m.consumer AS party, m.certificate AS id FROM measurements m
   UNION ALL
  SELECT ${REQUISITION_NAME}, r.provider, r.certificate FROM requisitions r
   UNION ALL
  SELECT ${REQUISITION_NAME}, r.provider, r.result_certificate FROM requisitions r
   WHERE r.result_certificate IS NOT NULL
   UNION ALL
  SELECT ${MEASUREMENT_NAME}, m.result_duchy, m.result_certificate FROM measurements m
   WHERE m.result_certificate IS NOT NULL
   UNION ALL
  SELECT ${COMPUTATION_NAME}, c.duchy, c.certificate FROM computations c WHERE c.certificate IS NOT NULL
   UNION ALL
  SELECT p.name, p.name, p.public_key_certificate FROM parties p WHERE p.public_key_certificate IS NOT NULL
   UNION ALL
  SELECT 'revocation of ' || k.party || '/certificates/' || k.certificate, k.party, k.certificate
    FROM revocation_cascades k`;

/** Each party that something belongs to. */
const PARTY_REFERENCES = `
  SELECT ${CERTIFICATE_NAME} AS name, c.party FROM certificates c
   UNION ALL
  SELECT ${COMPUTATION_NAME}, c.duchy FROM computations c
   UNION ALL
  SELECT ${DESCRIPTOR_NAME}, d.provider FROM event_group_metadata_descriptors d
   UNION ALL
  SELECT ${EVENT_GROUP_NAME}, unnest(ARRAY[e.provider, e.consumer]) FROM event_groups e
   UNION ALL
  SELECT ${PRINCIPAL_NAME}, p.resource FROM principals p WHERE p.resource <> 'operator'
   UNION ALL
  SELECT ${TRUSTED_ROOT_NAME}, t.party FROM trusted_roots t WHERE t.party IS NOT NULL`;

export const referenceChecks = checks({
  'certificate-owner': {
    meaning: 'A certificate is named that the party in question does not have.',
    names: `SELECT name FROM (${CERTIFICATE_REFERENCES}) AS reference LEFT JOIN certificates c USING (party, id)
      WHERE c.party IS NULL`,
  },
  orphan: {
    meaning: 'A row belongs to something that does not exist.',
    names: `SELECT reference.name FROM (${PARTY_REFERENCES}) AS reference LEFT JOIN parties ON parties.name = reference.party
      WHERE parties.name IS NULL
      UNION ALL
     SELECT ${REQUISITION_NAME} FROM requisitions r LEFT JOIN measurements m ON m.id = r.measurement
      WHERE m.id IS NULL
      UNION ALL
     SELECT ${REQUISITION_NAME} FROM requisition_tombstones r
       LEFT JOIN measurement_tombstones m ON m.id = r.measurement WHERE m.id IS NULL
      UNION ALL
     SELECT 'transition of ' || t.measurement FROM transitions t LEFT JOIN measurements m ON m.id = t.measurement
      WHERE m.id IS NULL
      UNION ALL
     SELECT 'transition of ' || t.measurement || ' ' || t.requisition FROM transitions t
       LEFT JOIN requisitions r ON r.id = t.requisition AND r.measurement = t.measurement
       LEFT JOIN computations c ON c.duchy = t.requisition AND c.id = t.measurement
      WHERE t.requisition <> '' AND r.id IS NULL AND c.id IS NULL
      UNION ALL
     SELECT ${COMPUTATION_NAME} FROM computations c LEFT JOIN measurements m ON m.id = c.id WHERE m.id IS NULL
      UNION ALL
     SELECT 'report of ' || l.duchy || ' on ' || l.computation FROM computation_log l
       LEFT JOIN computations c ON c.id = l.computation AND c.duchy = l.duchy WHERE c.id IS NULL
      UNION ALL
     SELECT 'type ' || t.type_name || ' of ' || t.descriptor FROM descriptor_types t
       LEFT JOIN event_group_metadata_descriptors d ON d.id = t.descriptor WHERE d.id IS NULL
      UNION ALL
     SELECT ${EVENT_GROUP_NAME} FROM event_groups e LEFT JOIN event_group_metadata_descriptors d ON d.id = e.descriptor
      WHERE e.descriptor IS NOT NULL AND d.id IS NULL
      UNION ALL
     SELECT 'model line ' || l.model_line FROM population_model_lines l LEFT JOIN populations o ON o.id = l.population
      WHERE o.id IS NULL`,
  },
});
