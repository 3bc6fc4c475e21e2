/** The product's table of contents: every operation, by the name it has in the routes table. */
import type { Operation, RequestOf, ResponseOf } from '@measurement-exchange/contract';
import { cancelMeasurement } from './cancelMeasurement.ts';
import type { Call, Exchange } from './context.ts';
import { createMeasurement } from './createMeasurement.ts';
import {
  batchGetEventGroupMetadataDescriptors,
  createEventGroupMetadataDescriptor,
  getEventGroupMetadataDescriptor,
  listEventGroupMetadataDescriptors,
  updateEventGroupMetadataDescriptor,
} from './descriptors.ts';
import { fulfillDirectRequisition } from './fulfillDirectRequisition.ts';
import { getCertificate } from './getCertificate.ts';
import { batchGetMeasurements, getMeasurement, listMeasurements } from './measurements.ts';
import { refuseRequisition } from './refuseRequisition.ts';
import {
  getMeasurementRequisition,
  getRequisition,
  listMeasurementRequisitions,
  listRequisitions,
} from './requisitions.ts';
import { getMeasurementTimeline, getRequisitionTimeline } from './timeline.ts';
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
  whoAmI,
  createEventGroupMetadataDescriptor,
  updateEventGroupMetadataDescriptor,
  getEventGroupMetadataDescriptor,
  batchGetEventGroupMetadataDescriptors,
  listEventGroupMetadataDescriptors,
  listRequisitions,
  listMeasurementRequisitions,
  getRequisition,
  getMeasurementRequisition,
  fulfillDirectRequisition,
  refuseRequisition,
  getRequisitionTimeline,
  createMeasurement,
  getMeasurement,
  listMeasurements,
  batchGetMeasurements,
  cancelMeasurement,
  getMeasurementTimeline,
  getCertificate,
};
