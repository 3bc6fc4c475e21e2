/** RPCs of the demo parties, with the same outcomes as REST requests. */
import { type Client, Code, ConnectError, createClient } from '@connectrpc/connect';
import { ErrorInfoSchema, Measurements, Requisitions } from '@measurement-exchange/contract/rpc';
import { type DevJson, toJson } from '@measurement-exchange/testkit/requests';
import { transportTo } from '@measurement-exchange/testkit/rpc';
import type { Reply } from './client.ts';

export interface Rpcs {
  measurements: Client<typeof Measurements>;
  requisitions: Client<typeof Requisitions>;
}

/** The time limit for an RPC. It is the same as that for a REST request. */
const LONGEST_MS = 30_000;
/** The REST statuses that the rig distinguishes, by gRPC code. */
const STATUSES: Partial<Record<Code, number>> = {
  [Code.Unavailable]: 503,
  [Code.DeadlineExceeded]: 504,
  [Code.Internal]: 500,
  [Code.Unknown]: 500,
};

/** The clients of one exchange. Each caller has its own connections. */
export class RpcClients {
  private readonly clients = new Map<string, Rpcs>();

  of(who: string, token: string, dev: DevJson): Rpcs {
    let rpcs = this.clients.get(who);
    if (rpcs === undefined) {
      const transport = transportTo(dev, { token, timeoutMs: LONGEST_MS });
      rpcs = {
        measurements: createClient(Measurements, transport),
        requisitions: createClient(Requisitions, transport),
      };
      this.clients.set(who, rpcs);
    }
    return rpcs;
  }
}

/** Converts an RPC to a reply. `call` must return the response in the form of REST. */
export async function replyOf(call: Promise<object>): Promise<Reply> {
  try {
    const json = await call;
    return { kind: 'response', status: 200, reason: 'OK', text: toJson(json), json };
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    const [info] = error.findDetails(ErrorInfoSchema);
    // An error without ErrorInfo comes from the connection and not from the exchange.
    if (info === undefined) return { kind: 'unknown', why: error.message };
    const { reason, metadata } = info;
    const json = { error: { message: error.rawMessage, details: [{ reason, metadata }] } };
    return { kind: 'response', status: STATUSES[error.code] ?? 400, reason, text: error.message, json };
  }
}
