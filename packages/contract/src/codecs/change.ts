import * as s from '../json/schema.ts';

export const CHANGE_KINDS = [
  'MEASUREMENT',
  'REQUISITION',
  'COMPUTATION',
  'REPORT',
  'EVENT_GROUP',
  'DESCRIPTOR',
  'CERTIFICATE',
  'PARTY',
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/**
 * Tells a party that a resource has a new version. A change does not contain the resource: the party reads it
 * separately.
 */
export const Change = s.object({
  name: s.nameOf(
    'measurement',
    'requisition',
    'measurementRequisition',
    'computation',
    'report',
    'eventGroup',
    'measurementConsumerEventGroup',
    'eventGroupMetadataDescriptor',
    'measurementConsumerCertificate',
    'dataProviderCertificate',
    'duchyCertificate',
    'measurementConsumer',
    'dataProvider',
    'duchy',
  ),
  kind: s.enumOf(CHANGE_KINDS),
  state: s.optional(s.text(100), 'The state of this version; absent for resources without states.'),
  version: s.integer(1, 2 ** 31 - 1),
  time: s.timestamp(),
});
export type Change = s.Static<typeof Change>;
