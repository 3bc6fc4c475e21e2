/** The product's table of contents: every operation, by the name it has in the routes table. */
import type { Operation, RequestOf, ResponseOf } from '@measurement-exchange/contract';
import { listAuditEntries } from './audit.ts';
import { batchCreateEventGroups, batchUpdateEventGroups } from './batchEventGroups.ts';
import { cancelMeasurement } from './cancelMeasurement.ts';
import {
  createCertificate,
  getCertificate,
  listCertificates,
  releaseCertificateHold,
  revokeCertificate,
} from './certificates.ts';
import type { Call, Exchange } from './context.ts';
import { createMeasurement } from './createMeasurement.ts';
import {
  batchGetEventGroupMetadataDescriptors,
  createEventGroupMetadataDescriptor,
  diffEventGroupMetadataDescriptor,
  getEventGroupMetadataDescriptor,
  listEventGroupMetadataDescriptors,
  updateEventGroupMetadataDescriptor,
} from './descriptors.ts';
import {
  createEventGroup,
  deleteEventGroup,
  getEventGroup,
  listEventGroups,
  updateEventGroup,
} from './eventGroups.ts';
import { fulfillDirectRequisition } from './fulfillDirectRequisition.ts';
import { batchGetMeasurements, getMeasurement, listMeasurements } from './measurements.ts';
import { decodeEventGroup, decodeMetadata } from './metadata.ts';
import { createParty, getParty, listParties, resumeParty, suspendParty, updateParty } from './parties.ts';
import { createPrincipal, deletePrincipal, listPrincipals } from './principals.ts';
import { refuseRequisition } from './refuseRequisition.ts';
import {
  getMeasurementRequisition,
  getRequisition,
  listMeasurementRequisitions,
  listRequisitions,
} from './requisitions.ts';
import { getMeasurementTimeline, getRequisitionTimeline } from './timeline.ts';
import { createTrustedRoot, deleteTrustedRoot, listTrustedRoots } from './trustedRoots.ts';
import { whoAmI } from './whoAmI.ts';

export { authorize, type Principal } from '../domain/access.ts';
export type { Call, Exchange } from './context.ts';

export type Handler<O extends Operation> = (
  x: Exchange,
  call: Call,
  request: RequestOf<O>,
) => Promise<ResponseOf<O>>;

/** An operation of the table that is missing here does not compile. */
export const operations: { [O in Operation]: Handler<O> } = {
  createMeasurement,
  getMeasurement,
  listMeasurements,
  batchGetMeasurements,
  cancelMeasurement,
  getMeasurementTimeline,

  listRequisitions,
  listMeasurementRequisitions,
  getRequisition,
  getMeasurementRequisition,
  fulfillDirectRequisition,
  refuseRequisition,
  getRequisitionTimeline,

  createEventGroupMetadataDescriptor,
  updateEventGroupMetadataDescriptor,
  getEventGroupMetadataDescriptor,
  batchGetEventGroupMetadataDescriptors,
  listEventGroupMetadataDescriptors,
  diffEventGroupMetadataDescriptor,
  decodeMetadata,

  createEventGroup,
  updateEventGroup,
  deleteEventGroup,
  batchCreateEventGroups,
  batchUpdateEventGroups,
  getEventGroup,
  listEventGroups,
  decodeEventGroup,

  createCertificate,
  getCertificate,
  listCertificates,
  revokeCertificate,
  releaseCertificateHold,

  createParty,
  getParty,
  listParties,
  updateParty,
  suspendParty,
  resumeParty,

  createPrincipal,
  listPrincipals,
  deletePrincipal,
  createTrustedRoot,
  listTrustedRoots,
  deleteTrustedRoot,
  listAuditEntries,
  whoAmI,
};
