import { enumOf, integer, nameOf, object, optional, type Static, text, timestamp } from '../json/schema.ts';

export const CHANGE_KINDS = [
  'MEASUREMENT',
  'REQUISITION',
  'COMPUTATION',
  'EVENT_GROUP',
  'DESCRIPTOR',
  'CERTIFICATE',
  'PARTY',
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** That a resource has a new version. What is in it, the reader gets with the rights it has then. */
export const Change = object({
  name: nameOf(
    'measurement',
    'requisition',
    'measurementRequisition',
    'computation',
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
  kind: enumOf(CHANGE_KINDS),
  state: optional(text(100), 'The state of this version; absent for what has none.'),
  version: integer(1, 2 ** 31 - 1),
  time: timestamp(),
});
export type Change = Static<typeof Change>;
