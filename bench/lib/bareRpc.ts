/** Yardstick: the statements behind a handler of connect-node, which reads the same requests and writes the same responses. */
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { type DescMessage, fromBinary, type Message } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { specs } from '@measurement-exchange/contract';
import {
  FulfillDirectRequisitionResponseSchema,
  Measurements,
  Requisitions,
} from '@measurement-exchange/contract/rpc';
import { serve } from './processes.ts';
import { type Play, ScriptPlayer } from './script.ts';

/** The request header with the number of the item. */
export const ITEM = 'x-item';

export type BareRpc = {
  /** The port. */
  listen: (options: { databaseUrl: string; tls: { cert: string; key: string } }) => Promise<number>;
  /** `response` is a response of the exchange. */
  load: (load: { play: Play; response: Uint8Array }) => void;
};

let player: ScriptPlayer;
let response: Uint8Array;

/** Reads the response once for each load; it is written for every call. */
function handlerOf<M extends Message>(schema: DescMessage) {
  let read: Uint8Array | undefined;
  let message: M;
  return async (_request: unknown, { requestHeader }: HandlerContext): Promise<M> => {
    await player.play(Number(requestHeader.get(ITEM)));
    if (read !== response) message = fromBinary(schema, response) as M;
    read = response;
    return message;
  };
}

async function listen({ databaseUrl, tls }: Parameters<BareRpc['listen']>[0]): Promise<number> {
  player = new ScriptPlayer(databaseUrl);
  const measurement = handlerOf<specs.Measurement>(specs.MeasurementSchema);
  const handler = connectNodeAdapter({
    routes: (router) =>
      router
        .service(Measurements, { getMeasurement: measurement, createMeasurement: measurement })
        .service(Requisitions, {
          fulfillDirectRequisition: handlerOf(FulfillDirectRequisitionResponseSchema),
        }),
  });
  const server = createSecureServer(tls, handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function load(loaded: Parameters<BareRpc['load']>[0]): void {
  player.load(loaded.play);
  response = loaded.response;
}

if (process.send !== undefined) serve({ listen, load });
