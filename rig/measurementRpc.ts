/** Sends the operations on a measurement by gRPC, and translates the responses to the fields of REST. */
import { randomBytes } from 'node:crypto';
import { specs, TYPE_URLS } from '@measurement-exchange/contract';
import {
  Requisition_Refusal_Justification as Justification,
  type Requisition,
  Requisition_State,
  Requisition_StateSchema,
} from '@measurement-exchange/contract/rpc';
import { createRequestOf } from '@measurement-exchange/testkit/rpcRequests';
import type { Rpcs } from './world/rpc.ts';

export async function create({ measurements }: Rpcs, ...request: Parameters<typeof createRequestOf>) {
  return toMeasurement(await measurements.createMeasurement(createRequestOf(...request)));
}

export async function get({ measurements }: Rpcs, name: string) {
  return toMeasurement(await measurements.getMeasurement({ name }));
}

export async function cancel({ measurements }: Rpcs, name: string) {
  return toMeasurement(await measurements.cancelMeasurement({ name }));
}

export async function listRequisitions({ requisitions }: Rpcs, parent: string) {
  const listed = await requisitions.listRequisitions({ parent });
  return { requisitions: listed.requisitions.map(toRequisition) };
}

export async function getRequisition({ requisitions }: Rpcs, name: string) {
  return toRequisition(await requisitions.getRequisition({ name }));
}

export async function refuse({ requisitions }: Rpcs, name: string, etag: string) {
  const refusal = { justification: Justification.DECLINED };
  return toRequisition(await requisitions.refuseRequisition({ name, refusal, etag }));
}

interface Fulfillment {
  name: string;
  etag: string;
  nonce: bigint;
  certificate: string;
}

export async function fulfill({ requisitions }: Rpcs, fulfillment: Fulfillment) {
  const encryptedResult = { ciphertext: randomBytes(100), typeUrl: TYPE_URLS.SignedMessage };
  const { state } = await requisitions.fulfillDirectRequisition({ ...fulfillment, encryptedResult });
  return { state: stateOf(state) };
}

/**
 * Converts a measurement. The fields in `rest` never change, so they need no conversion: each is compared only with its
 * own first value.
 */
function toMeasurement({ name, state, results, failure, updateTime: _time, ...rest }: specs.Measurement) {
  return {
    name,
    state: specs.Measurement_StateSchema.value[state]?.name,
    results,
    ...(failure && { failure }),
    ...rest,
  };
}

function toRequisition({ name, state, measurementState, etag, nonce }: Requisition) {
  return {
    name,
    dataProvider: name.slice(0, name.indexOf('/requisitions/')),
    state: stateOf(state),
    measurementState: specs.Measurement_StateSchema.value[measurementState]?.name,
    etag,
    ...(state === Requisition_State.FULFILLED && { nonce }),
  };
}

function stateOf(state: Requisition_State): string | undefined {
  return Requisition_StateSchema.value[state]?.name;
}
