/** Test data: possible defects of certificates, descriptors, event groups, tombstones and the audit log. */
import { BRAND, RADIO, TV } from './data.ts';
import {
  descriptor,
  eventGroup,
  type Illness,
  measurement,
  past,
  radioRequisition,
  tvRequisition,
} from './illness.ts';

export const RESOURCE_ILLNESSES: Illness[] = [
  [
    'versions of descriptors without an audit entry',
    `DELETE FROM audit_entries WHERE version = 1 AND name = '${descriptor('films')}'
         OR version = 2 AND name = '${descriptor('shows')}'`,
    'audit-missing',
    [descriptor('films'), descriptor('shows')],
  ],
  [
    'versions of a party, a certificate and an event group without an audit entry',
    `DELETE FROM audit_entries WHERE (name, version) IN
       (('${TV}', 2), ('${RADIO}/certificates/radio-cert', 3), ('${eventGroup('films')}', 1))`,
    'audit-missing',
    [`${RADIO}/certificates/radio-cert`, TV, eventGroup('films')],
  ],
  [
    'audit entries for missing versions, for a missing resource, and duplicate audit entries',
    `INSERT INTO audit_entries (time, principal, operation, name, version, request_id)
     SELECT now(), 'principal', 'operation', name, version, 'request'
       FROM (VALUES ('${descriptor('films')}', 3), ('${eventGroup('none')}', 1), ('${descriptor('shows')}', 1),
                    ('${BRAND}', 1), ('${BRAND}', 1), ('${TV}/certificates/tv-cert', 1), ('${TV}', 3))
         AS entry(name, version)`,
    'audit-unmatched',
    [TV, descriptor('films'), descriptor('shows'), eventGroup('none'), BRAND],
  ],
  [
    'a principal deleted without an audit entry, and an existing root whose deletion was audited',
    `DELETE FROM principals WHERE id = 'brand';
     INSERT INTO audit_entries (time, principal, operation, name, version, request_id)
     VALUES (now(), 'operator', 'deleteTrustedRoot', 'trustedRoots/tv', 1, 'request')`,
    'audit-deletion',
    ['principals/brand', 'trustedRoots/tv'],
  ],
  [
    'deleted event groups that still have content',
    `UPDATE event_groups SET attributes = '[]' WHERE id = 'gone';
     UPDATE event_groups SET state = 'DELETED', metadata_ciphertext = NULL, metadata_cipher_url = NULL,
       brand_name = NULL WHERE id = 'shows'`,
    'event-group-deleted',
    [eventGroup('gone'), eventGroup('shows')],
  ],
  [
    'metadata that is both encrypted and readable, and encrypted metadata without its type',
    `UPDATE event_groups SET metadata_ciphertext = 'c', metadata_cipher_url = 'type' WHERE id = 'films';
     UPDATE event_groups SET metadata_cipher_url = NULL WHERE id = 'shows'`,
    'event-group-metadata',
    [eventGroup('films'), eventGroup('shows')],
  ],
  [
    'encrypted metadata without a public key, and readable metadata without its descriptor',
    `UPDATE event_groups SET key_type = NULL, key_data = NULL WHERE id = 'shows';
     UPDATE event_groups SET descriptor = NULL WHERE id = 'films'`,
    'event-group-metadata',
    [eventGroup('films'), eventGroup('shows')],
  ],
  [
    'metadata that refers to the descriptor of another provider',
    `UPDATE event_groups SET provider = '${RADIO}' WHERE id = 'films';
     UPDATE audit_entries SET name = '${RADIO}/eventGroups/films' WHERE name = '${eventGroup('films')}'`,
    'event-group-descriptor',
    [`${RADIO}/eventGroups/films`],
  ],
  [
    'types that descriptor_types lacks, and a listed type that no descriptor set defines',
    `DELETE FROM descriptor_types WHERE descriptor = 'films';
     INSERT INTO descriptor_types VALUES ('shows', 'tv.Old', '${TV}')`,
    'descriptor-types',
    [descriptor('films'), descriptor('shows')],
  ],
  [
    'an unreadable descriptor set, and types that are listed for another provider',
    `UPDATE event_group_metadata_descriptors SET descriptor_set = '\\xff' WHERE id = 'films';
     UPDATE descriptor_types SET provider = '${RADIO}' WHERE descriptor = 'shows'`,
    'descriptor-types',
    [descriptor('films'), descriptor('shows')],
  ],
  [
    'a version of a population without an audit entry',
    `DELETE FROM audit_entries WHERE name = 'populations/first' AND version = 1`,
    'audit-missing',
    ['populations/first'],
  ],
  [
    'a population with a wrong size, and one with a wrong fingerprint',
    `UPDATE populations SET size = 21 WHERE id = 'first';
     UPDATE populations SET fingerprint = sha256('another') WHERE id = 'second'`,
    'population-ranges',
    ['populations/first', 'populations/second'],
  ],
  [
    'a population with overlapping VID ranges, and one with VID ranges out of order',
    `UPDATE populations SET vid_ranges = '[{"start": 1, "end": 20}, {"start": 1, "end": 20}]', size = 40 WHERE id = 'first';
     UPDATE populations SET vid_ranges = '[{"start": 11, "end": 30}, {"start": 1, "end": 10}]' WHERE id = 'second'`,
    'population-ranges',
    ['populations/first', 'populations/second'],
  ],
  [
    'two default populations, and one model line of two populations',
    `${past('populations_default', 'UPDATE populations SET is_default = true')};
     ${past('population_model_lines_pkey', `INSERT INTO population_model_lines VALUES ('a', 'second', 2)`)}`,
    'population-default',
    ['model line a', 'populations/first', 'populations/second'],
  ],
  [
    'a protocol config that is missing, superfluous, of an unknown population, or of another fingerprint',
    `UPDATE measurements SET protocol = 'honestMajorityShareShuffle' WHERE id = 'awaiting';
     UPDATE measurements SET protocol = 'direct' WHERE id = 'shares-missing';
     UPDATE measurements SET protocol_config = protocol_config || '{"population": "populations/none"}'
      WHERE id = 'shares-sent';
     UPDATE measurements SET protocol_config = protocol_config || '{"populationFingerprint": "AAAA"}'
      WHERE id = 'shares-summed'`,
    'protocol-config',
    ['awaiting', 'shares-missing', 'shares-sent', 'shares-summed'].map(measurement),
  ],
  [
    'a measurement that still exists although it has a tombstone',
    `INSERT INTO measurement_tombstones SELECT id, consumer, state, NULL, NULL, create_time, update_time, now()
       FROM measurements WHERE id = 'cancelled';
     INSERT INTO requisition_tombstones SELECT id, provider, measurement, state, create_time, update_time
       FROM requisitions WHERE measurement = 'cancelled'`,
    'tombstone-alive',
    [radioRequisition('cancelled'), tvRequisition('cancelled'), measurement('cancelled')],
  ],
  [
    'tombstones whose state is not terminal',
    `UPDATE measurement_tombstones SET state = 'COMPUTING';
     UPDATE requisition_tombstones SET state = 'UNFULFILLED' WHERE id = 'old-tv'`,
    'tombstone-state',
    [tvRequisition('old'), measurement('old')],
  ],
  [
    'a measurement tombstone without the tombstones of its requisitions',
    'DELETE FROM requisition_tombstones',
    'tombstone-requisitions',
    [measurement('old')],
  ],
  [
    'a certificate that expires within 30 days',
    `UPDATE certificates SET not_after = now() + interval '29 days' WHERE party = '${TV}';
     UPDATE certificates SET not_after = now() + interval '31 days' WHERE party = '${RADIO}';
     UPDATE certificates SET not_after = now() - interval '1 day' WHERE party = '${BRAND}'`,
    'certificate-expiring',
    [`${TV}/certificates/tv-cert`],
  ],
  [
    'pending measurements whose consumer certificate is revoked',
    `UPDATE certificates SET revocation_state = 'REVOKED' WHERE party = '${BRAND}'`,
    'revoked-pending',
    ['awaiting', 'computing', 'shares-missing', 'shares-sent', 'sketches-counted'].map(measurement),
  ],
  [
    'a pending measurement whose result certificate is on hold, but none with a revocation in progress',
    `INSERT INTO certificates SELECT party, 'tv-other', 'other', subject_key_identifier, not_before, not_after, 'HOLD',
       create_time FROM certificates WHERE party = '${TV}';
     UPDATE requisitions SET result_certificate = 'tv-other' WHERE id = 'computing-tv';
     UPDATE certificates SET revocation_state = 'HOLD' WHERE party = '${RADIO}';
     INSERT INTO revocation_cascades (party, certificate, revocation_state, time, actor, request_id)
       VALUES ('${RADIO}', 'radio-cert', 'HOLD', now(), 'actor', 'request')`,
    'revoked-pending',
    [measurement('computing')],
  ],
  [
    'a revocation that is still in progress after 61 seconds',
    `UPDATE certificates SET revocation_state = 'HOLD' WHERE party = '${TV}';
     INSERT INTO revocation_cascades (party, certificate, revocation_state, time, actor, request_id)
       VALUES ('${TV}', 'tv-cert', 'HOLD', now() - interval '61 seconds', 'actor', 'request')`,
    'cascade-stuck',
    [`${TV}/certificates/tv-cert`],
  ],
  [
    'two parties with the same key',
    `UPDATE certificates SET subject_key_identifier = 'key' WHERE party IN ('${TV}', '${BRAND}')`,
    'key-shared',
    [`${TV}/certificates/tv-cert`, `${BRAND}/certificates/brand-cert`],
  ],
];
