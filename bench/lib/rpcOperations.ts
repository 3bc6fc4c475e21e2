/** Three of the measured operations as RPCs, built from the same items as their REST requests. */
import { randomBytes } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { TYPE_URLS } from '@measurement-exchange/contract';
import {
  CreateMeasurementRequestSchema,
  FulfillDirectRequisitionRequestSchema,
  GetMeasurementRequestSchema,
  Measurements,
  Requisitions,
} from '@measurement-exchange/contract/rpc';
import { createRequestOf } from '@measurement-exchange/testkit/rpcRequests';
import type { DevParty } from './exchange.ts';
import { ITEM, type Rpc } from './rpcConnection.ts';
import type { World } from './world.ts';

export interface RpcOperation {
  path: string;
  message: (item: readonly string[]) => Uint8Array;
}

const RESULT_BYTES = 600;

/** Returns the operations that are measured as RPCs. The key of each is the name of the measured operation. */
export function rpcOperations({ consumer, providers, createBody }: World): Record<string, RpcOperation> {
  const [provider] = providers as [DevParty];
  const request = createRequestOf(consumer.name, JSON.parse(createBody));
  const ciphertext = randomBytes(RESULT_BYTES);
  return {
    get: {
      path: pathOf(Measurements.method.getMeasurement),
      message: ([id]) =>
        toBinary(
          GetMeasurementRequestSchema,
          create(GetMeasurementRequestSchema, { name: `${consumer.name}/measurements/${id}` }),
        ),
    },
    'create, 3 providers': {
      path: pathOf(Measurements.method.createMeasurement),
      message: ([requestId]) =>
        toBinary(CreateMeasurementRequestSchema, { ...request, requestId: requestId! }),
    },
    fulfillDirect: {
      path: pathOf(Requisitions.method.fulfillDirectRequisition),
      message: ([id, etag]) =>
        toBinary(
          FulfillDirectRequisitionRequestSchema,
          create(FulfillDirectRequisitionRequestSchema, {
            name: `${provider.name}/requisitions/${id}`,
            encryptedResult: { ciphertext, typeUrl: TYPE_URLS.SignedMessage },
            nonce: 1n,
            certificate: provider.certificate,
            etag: etag!,
          }),
        ),
    },
  };
}

/** Returns one RPC of the caller for each item. */
export function rpcsOf(caller: DevParty, { path, message }: RpcOperation, items: string[][]): Rpc[] {
  const authorization = `Bearer ${caller.token}`;
  return items.map((item, i) => ({
    path,
    headers: { authorization, [ITEM]: String(i) },
    message: message(item),
  }));
}

function pathOf({ parent, name }: { parent: { typeName: string }; name: string }): string {
  return `/${parent.typeName}/${name}`;
}
