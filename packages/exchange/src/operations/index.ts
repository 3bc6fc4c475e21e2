/** All operations, by their name in the routes table. */
import type { Operation } from '@measurement-exchange/contract';
import { createApiKey } from './apiKeys/create.ts';
import { deleteApiKey } from './apiKeys/delete.ts';
import { listApiKeys } from './apiKeys/list.ts';
import { listAuditEntries } from './audit/list.ts';
import { createCertificate } from './certificates/create.ts';
import { getCertificate } from './certificates/get.ts';
import { listCertificates } from './certificates/list.ts';
import { releaseCertificateHold } from './certificates/releaseHold.ts';
import { revokeCertificate } from './certificates/revoke.ts';
import { listChanges } from './changes/list.ts';
import { watchChanges } from './changes/watch.ts';
import { confirmComputation } from './computations/confirm.ts';
import { failComputation } from './computations/fail.ts';
import { fulfillComputationRequisition } from './computations/fulfillRequisition.ts';
import { getComputation } from './computations/get.ts';
import { listComputations } from './computations/list.ts';
import { logComputation } from './computations/log.ts';
import { setComputationParameters } from './computations/setParameters.ts';
import { setComputationResult } from './computations/setResult.ts';
import type { Handler } from './context.ts';
import { batchGetEventGroupMetadataDescriptors } from './descriptors/batchGet.ts';
import { createEventGroupMetadataDescriptor } from './descriptors/create.ts';
import { decodeMetadata } from './descriptors/decode.ts';
import { diffEventGroupMetadataDescriptor } from './descriptors/diff.ts';
import { getEventGroupMetadataDescriptor } from './descriptors/get.ts';
import { listEventGroupMetadataDescriptors } from './descriptors/list.ts';
import { updateEventGroupMetadataDescriptor } from './descriptors/update.ts';
import { batchCreateEventGroups, createEventGroup } from './eventGroups/create.ts';
import { decodeEventGroup } from './eventGroups/decode.ts';
import { deleteEventGroup } from './eventGroups/delete.ts';
import { getEventGroup } from './eventGroups/get.ts';
import { listEventGroups } from './eventGroups/list.ts';
import { batchUpdateEventGroups, updateEventGroup } from './eventGroups/update.ts';
import { explainComputation, explainMeasurement, explainRequisition } from './explain.ts';
import { batchGetMeasurements } from './measurements/batchGet.ts';
import { cancelMeasurement } from './measurements/cancel.ts';
import { batchCreateMeasurements, createMeasurement } from './measurements/create.ts';
import { getMeasurement } from './measurements/get.ts';
import { listMeasurements } from './measurements/list.ts';
import { getMeasurementTimeline } from './measurements/timeline.ts';
import { createParty } from './parties/create.ts';
import { getParty } from './parties/get.ts';
import { listPartyHealth } from './parties/health.ts';
import { listParties } from './parties/list.ts';
import { getPartySummary } from './parties/summary.ts';
import { resumeParty, suspendParty } from './parties/suspend.ts';
import { updateParty } from './parties/update.ts';
import { createPopulation } from './populations/create.ts';
import { getPopulation } from './populations/get.ts';
import { listPopulations } from './populations/list.ts';
import { updatePopulation } from './populations/update.ts';
import { createPrincipal } from './principals/create.ts';
import { deletePrincipal } from './principals/delete.ts';
import { listPrincipals } from './principals/list.ts';
import { whoAmI } from './principals/whoAmI.ts';
import { createReport } from './reports/create.ts';
import { deleteReport } from './reports/delete.ts';
import { getReport } from './reports/get.ts';
import { listReports } from './reports/list.ts';
import { updateReport } from './reports/update.ts';
import { deferRequisition } from './requisitions/defer.ts';
import { fulfillDirectRequisition } from './requisitions/fulfillDirect.ts';
import { getMeasurementRequisition, getRequisition } from './requisitions/get.ts';
import { listMeasurementRequisitions, listRequisitions } from './requisitions/list.ts';
import { refuseRequisition } from './requisitions/refuse.ts';
import { getRequisitionTimeline } from './requisitions/timeline.ts';
import { getDoctor, runDoctor } from './status/doctor.ts';
import { getExchangeStatus } from './status/exchange.ts';
import { createTrustedRoot } from './trustedRoots/create.ts';
import { deleteTrustedRoot } from './trustedRoots/delete.ts';
import { listTrustedRoots } from './trustedRoots/list.ts';
import { createWebhook } from './webhooks/create.ts';
import { deleteWebhook } from './webhooks/delete.ts';
import { getWebhook } from './webhooks/get.ts';
import { listWebhookDeliveries, listWebhooks } from './webhooks/list.ts';
import { redeliverWebhook } from './webhooks/redeliver.ts';
import { rotateWebhookSecret } from './webhooks/rotateSecret.ts';
import { testWebhook } from './webhooks/test.ts';
import { updateWebhook } from './webhooks/update.ts';

export { authorize, type Principal } from '../domain/access.ts';
export type { ChangeEvent, Found, Watch } from './changes/events.ts';
export type { Call, Exchange, Handler } from './context.ts';

export const operations: { [O in Operation]: Handler<O> } = {
  createMeasurement,
  batchCreateMeasurements,
  getMeasurement,
  listMeasurements,
  batchGetMeasurements,
  cancelMeasurement,
  explainMeasurement,
  getMeasurementTimeline,

  createReport,
  getReport,
  listReports,
  updateReport,
  deleteReport,

  listRequisitions,
  listMeasurementRequisitions,
  getRequisition,
  getMeasurementRequisition,
  fulfillDirectRequisition,
  refuseRequisition,
  deferRequisition,
  explainRequisition,
  getRequisitionTimeline,

  listComputations,
  getComputation,
  explainComputation,
  setComputationParameters,
  confirmComputation,
  fulfillComputationRequisition,
  setComputationResult,
  failComputation,
  logComputation,

  listChanges,
  watchChanges,

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
  getPartySummary,
  listParties,
  updateParty,
  suspendParty,
  resumeParty,

  createPopulation,
  listPopulations,
  getPopulation,
  updatePopulation,

  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  redeliverWebhook,
  listWebhookDeliveries,

  createApiKey,
  listApiKeys,
  deleteApiKey,

  createPrincipal,
  listPrincipals,
  deletePrincipal,
  createTrustedRoot,
  listTrustedRoots,
  deleteTrustedRoot,
  listPartyHealth,
  getDoctor,
  runDoctor,
  getExchangeStatus,
  listAuditEntries,
  whoAmI,
};
