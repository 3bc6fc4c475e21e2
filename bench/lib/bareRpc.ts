/**
 * Yardstick for the exchange: its SQL statements behind a connect-node handler, which parses the same requests and
 * serializes the same responses.
 */
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
import { ITEM } from './rpcConnection.ts';
import { type Play, ScriptPlayer } from './script.ts';

export type BareRpc = {
  /** Starts the server and returns its port. */
  listen: (options: { databaseUrl: string; tls: { cert: string; key: string } }) => Promise<number>;
  /** Sets the statements to run, and the exchange's response that the handler returns. */
  load: (load: { play: Play; response: Uint8Array }) => void;
};

let player: ScriptPlayer;
let response: Uint8Array;

/**
 * Returns a handler that responds with the response that `load` set. The handler parses this response in its first call
 * after `load`, and reuses the parsed message. As for a real handler, Connect serializes the message in every call.
 */
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
