/** Test data: possible defects of rows of any table, in their values or in their references. */
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

export const ROW_ILLNESSES: Illness[] = [
  [
    'two measurements with the same requestId',
    past(
      'measurements_request_id',
      `UPDATE measurements SET request_id = 'awaiting-request' WHERE id = 'succeeded'`,
    ),
    'request-id-duplicate',
    [measurement('awaiting'), measurement('succeeded')],
  ],
  [
    'two descriptors with the same requestId',
    past(
      'descriptors_request_id',
      `UPDATE event_group_metadata_descriptors SET request_id = 'films-request'`,
    ),
    'request-id-duplicate',
    [descriptor('films'), descriptor('shows')],
  ],
  [
    'two event groups with the same requestId, and a measurement with that of a removed measurement',
    `${past('event_groups_request_id', `UPDATE event_groups SET request_id = 'once' WHERE id <> 'gone'`)};
     UPDATE measurements SET request_id = 'old-request' WHERE id = 'awaiting'`,
    'request-id-duplicate',
    [eventGroup('films'), eventGroup('shows'), measurement('awaiting'), measurement('old')],
  ],
  [
    'requestIds without a valid request hash, and a request hash without a requestId',
    `UPDATE measurements SET request_hash = NULL WHERE id = 'awaiting';
     UPDATE measurement_tombstones SET request_hash = NULL;
     UPDATE event_groups SET request_id = NULL WHERE id = 'films';
     UPDATE event_group_metadata_descriptors SET request_hash = 'short' WHERE id = 'films'`,
    'request-hash',
    [descriptor('films'), eventGroup('films'), measurement('awaiting'), measurement('old')],
  ],
  [
    'references to certificates of another party',
    `UPDATE measurements SET certificate = 'tv-cert' WHERE id = 'awaiting';
     UPDATE requisitions SET certificate = 'brand-cert' WHERE id = 'awaiting-tv';
     UPDATE requisitions SET result_certificate = 'radio-cert' WHERE id = 'succeeded-tv';
     UPDATE parties SET public_key_certificate = 'tv-cert' WHERE name = '${RADIO}';
     INSERT INTO revocation_cascades (party, certificate, revocation_state, time, actor, request_id)
       VALUES ('${RADIO}', 'tv-cert', 'HOLD', now(), 'actor', 'request')`,
    'certificate-owner',
    [
      RADIO,
      tvRequisition('awaiting'),
      tvRequisition('succeeded'),
      measurement('awaiting'),
      `revocation of ${RADIO}/certificates/tv-cert`,
    ],
  ],
  [
    'requisitions and transitions of a missing measurement',
    `DELETE FROM measurements WHERE id = 'awaiting'`,
    'orphan',
    [radioRequisition('awaiting'), tvRequisition('awaiting'), 'transition of awaiting'],
  ],
  [
    'a transition of a requisition that its measurement does not have',
    `INSERT INTO transitions (measurement, requisition, version, to_state, time, actor, cause, request_id)
       VALUES ('awaiting', 'cancelled-tv', 1, 'UNFULFILLED', now(), 'actor', 'created', 'request')`,
    'orphan',
    ['transition of awaiting cancelled-tv'],
  ],
  [
    'a certificate, a descriptor, a principal and a trusted root of a missing party',
    `INSERT INTO certificates SELECT 'dataProviders/none', 'cert', 'der', 'ski', now(), now(), NULL, now();
     UPDATE principals SET resource = 'dataProviders/none' WHERE id = 'brand';
     UPDATE trusted_roots SET party = 'dataProviders/none' WHERE id = 'tv';
     UPDATE descriptor_types SET provider = 'dataProviders/none' WHERE descriptor = 'shows';
     UPDATE event_group_metadata_descriptors SET provider = 'dataProviders/none' WHERE id = 'shows';
     UPDATE audit_entries SET name = 'dataProviders/none/eventGroupMetadataDescriptors/shows'
      WHERE name = '${descriptor('shows')}'`,
    'orphan',
    [
      'dataProviders/none/certificates/cert',
      'dataProviders/none/eventGroupMetadataDescriptors/shows',
      'principals/brand',
      'trustedRoots/tv',
    ],
  ],
  [
    'event groups, a type and a requisition tombstone that refer to missing rows',
    `UPDATE event_groups SET consumer = 'measurementConsumers/none' WHERE id = 'shows';
     UPDATE event_groups SET descriptor = 'none' WHERE id = 'films';
     INSERT INTO descriptor_types VALUES ('none', 'tv.Type', '${TV}');
     INSERT INTO requisition_tombstones VALUES ('r', '${TV}', 'none', 'FULFILLED', now(), now())`,
    'orphan',
    [eventGroup('films'), eventGroup('shows'), `${TV}/requisitions/r`, 'type tv.Type of none'],
  ],
  [
    'a model line of a missing population',
    `INSERT INTO population_model_lines VALUES ('d', 'none', 1)`,
    'orphan',
    ['model line d'],
  ],
  [
    'update times before the creation times',
    `UPDATE parties SET update_time = create_time - interval '1 microsecond' WHERE name = '${TV}';
     UPDATE measurements SET update_time = create_time - interval '1 microsecond' WHERE id = 'awaiting';
     UPDATE requisitions SET update_time = create_time - interval '1 microsecond' WHERE id = 'awaiting-tv';
     UPDATE event_group_metadata_descriptors SET update_time = create_time - interval '1 microsecond' WHERE id = 'films'`,
    'update-before-create',
    [TV, descriptor('films'), tvRequisition('awaiting'), measurement('awaiting')],
  ],
  [
    'an event group, a population and tombstones with update or delete times in the wrong order',
    `UPDATE event_groups SET update_time = create_time - interval '1 microsecond' WHERE id = 'films';
     UPDATE populations SET update_time = create_time - interval '1 microsecond' WHERE id = 'first';
     UPDATE measurement_tombstones SET delete_time = update_time - interval '1 microsecond';
     UPDATE requisition_tombstones SET update_time = create_time - interval '1 microsecond' WHERE id = 'old-tv'`,
    'update-before-create',
    [eventGroup('films'), tvRequisition('old'), measurement('old'), 'populations/first'],
  ],
  [
    'IDs with a dot',
    `UPDATE parties SET name = 'dataProviders/t.v' WHERE name = '${TV}';
     UPDATE parties SET public_key_certificate = 'tv-cert' WHERE name = 'dataProviders/t.v';
     UPDATE certificates SET party = 'dataProviders/t.v' WHERE party = '${TV}';
     UPDATE requisitions SET provider = 'dataProviders/t.v' WHERE provider = '${TV}';
     UPDATE trusted_roots SET party = 'dataProviders/t.v' WHERE party = '${TV}';
     UPDATE event_group_metadata_descriptors SET provider = 'dataProviders/t.v';
     UPDATE descriptor_types SET provider = 'dataProviders/t.v';
     UPDATE event_groups SET provider = 'dataProviders/t.v';
     UPDATE audit_entries SET name = replace(name, '${TV}', 'dataProviders/t.v');
     UPDATE measurements SET id = 'a.b' WHERE id = 'awaiting';
     UPDATE requisitions SET measurement = 'a.b' WHERE measurement = 'awaiting';
     UPDATE transitions SET measurement = 'a.b' WHERE measurement = 'awaiting'`,
    'out-of-bounds',
    ['dataProviders/t.v', measurement('a.b')],
  ],
  [
    'values that are too long, an empty descriptor set, and a reserved certificate ID',
    `UPDATE measurements SET reference_id = repeat('x', 256) WHERE id = 'awaiting';
     UPDATE requisitions SET refusal_message = repeat('x', 2001) WHERE id = 'refused-tv';
     UPDATE event_group_metadata_descriptors SET descriptor_set = '' WHERE id = 'films';
     DELETE FROM descriptor_types WHERE descriptor = 'films';
     UPDATE principals SET subject = repeat('x', 256) WHERE id = 'brand';
     INSERT INTO certificates SELECT '${TV}', 'preferred', 'der', 'ski', now(), now(), NULL, now()`,
    'out-of-bounds',
    [
      `${TV}/certificates/preferred`,
      descriptor('films'),
      tvRequisition('refused'),
      measurement('awaiting'),
      'principals/brand',
    ],
  ],
  [
    'a campaign name that is too long, invalid intervals, and invalid IDs of a root and a principal',
    `UPDATE event_groups SET campaign_name = repeat('x', 1001) WHERE id = 'films';
     UPDATE event_groups SET availability_start = NULL, availability_end = now() WHERE id = 'shows';
     UPDATE parties SET availability_start = now(), availability_end = now() WHERE name = '${TV}';
     INSERT INTO trusted_roots SELECT 'r.oot', '${BRAND}', x509_der, subject_key_identifier, not_before, not_after,
       create_time FROM trusted_roots WHERE id = 'tv';
     INSERT INTO principals (id, issuer, subject, resource, create_time) VALUES ('', 'i', 's', 'operator', now())`,
    'out-of-bounds',
    [TV, eventGroup('films'), eventGroup('shows'), 'principals/', 'trustedRoots/r.oot'],
  ],
  [
    'a question and a list of attributes that are too long, and attributes that are not a list',
    `UPDATE measurements SET question_ciphertext = repeat('x', 65537)::bytea, question_type_url = 'type'
      WHERE id = 'awaiting';
     UPDATE event_groups SET attributes = '[' || repeat(' ', 2097152) || ']' WHERE id = 'films';
     UPDATE event_groups SET attributes = '{}' WHERE id = 'shows'`,
    'out-of-bounds',
    [eventGroup('films'), eventGroup('shows'), measurement('awaiting')],
  ],
  [
    'an endpoint, a model line and a population name that are too long',
    `UPDATE parties SET endpoint = repeat('x', 1001) WHERE name = '${TV}';
     UPDATE population_model_lines SET model_line = repeat('x', 256) WHERE model_line = 'a';
     UPDATE populations SET display_name = repeat('x', 256) WHERE id = 'second'`,
    'out-of-bounds',
    [TV, `model line ${'x'.repeat(256)}`, 'populations/second'],
  ],
  [
    'protocols, a revocation state and a failure reason that this version does not know',
    `UPDATE parties SET protocols = '{guesswork}' WHERE name = '${TV}';
     UPDATE certificates SET revocation_state = 'LOST' WHERE party = '${TV}';
     UPDATE measurements SET failure_reason = 'BAD_LUCK' WHERE id = 'revoked';
     UPDATE measurements SET protocol = 'guesswork' WHERE id = 'awaiting'`,
    'unknown-word',
    [TV, `${TV}/certificates/tv-cert`, measurement('awaiting'), measurement('revoked')],
  ],
  [
    'a media type, an event group state and a revocation state that this version does not know',
    `UPDATE event_groups SET media_types = '{VIDEO,SMELL}' WHERE id = 'films';
     UPDATE event_groups SET state = 'ASLEEP' WHERE id = 'shows';
     INSERT INTO revocation_cascades (party, certificate, revocation_state, time, actor, request_id)
       VALUES ('${TV}', 'tv-cert', 'LOST', now(), 'actor', 'request')`,
    'unknown-word',
    [eventGroup('films'), eventGroup('shows'), `revocation of ${TV}/certificates/tv-cert`],
  ],
];
