/** One measurement as its callers see it: how it is created and changed, and how responses translate to the model. */
import { SIGNATURE_ALGORITHMS } from '@measurement-exchange/contract';
import {
  type DevParty,
  fulfillment,
  measurementRequest,
  toJson,
} from '@measurement-exchange/testkit/requests';
import type { Violations } from './harness.ts';
import * as rpc from './measurementRpc.ts';
import {
  type EtagVersion,
  type Face,
  type Input,
  type Output,
  type SentEtag,
  showFulfilled,
  showMeasurement,
  showRequisition,
  showRequisitions,
} from './model.ts';
import type { Random } from './random.ts';
import type { HttpResponse, Reply } from './world/client.ts';
import type { Rpcs } from './world/rpc.ts';
import type { World } from './world.ts';

export interface Draft {
  consumer: DevParty;
  providers: DevParty[];
  nonces: bigint[];
  requestId: string;
  body: ReturnType<typeof measurementRequest>;
}

export function draft(world: World, random: Random): Draft {
  const consumer = random.pick(world.consumers);
  const first = random.int(world.providers.length);
  const count = random.pick([1, 2, 2, 2, 3, 3, 3, 3, 3, 3]);
  const providers = Array.from(
    { length: count },
    (_, i) => world.providers[(first + i) % world.providers.length]!,
  );
  const nonces = providers.map(() => random.uint64());
  const body = measurementRequest(consumer, providers, nonces);
  // gRPC names algorithms by their OIDs. Requests with the same requestId must have the same content in REST and gRPC,
  // so REST uses the OID, too.
  body.measurementSpec.signatureAlgorithm = SIGNATURE_ALGORITHMS.ECDSA_P256_SHA256.oid;
  return { consumer, providers, nonces, requestId: random.id(20), body };
}

export function createPath({ consumer, requestId }: Pick<Draft, 'consumer' | 'requestId'>): string {
  return `${consumer.name}/measurements?requestId=${requestId}`;
}

export function sendCreate(world: World, at: number, made: Draft, face: Face): Promise<Reply> {
  const { consumer, body, requestId } = made;
  if (face === 'grpc') {
    return world.rpc(at, consumer.name, (rpcs) => rpc.create(rpcs, consumer.name, body, requestId));
  }
  return world.call(at, consumer.name, 'POST', createPath(made), body);
}

/** A created measurement, with its draft, its name and its requisitions. */
export class Subject {
  readonly name: string;
  readonly draft: Draft;
  /** The IDs of the requisitions, in the order of the providers. */
  private readonly ids: string[] = [];
  /** For each requisition, the etag of its creation, and the etag after its change if a response has shown it. */
  private readonly etags: [first: string, second: string | undefined][] = [];
  /** The fields that never change, as each API first showed them. */
  private readonly immutable = new Map<Face, string>();

  constructor(draft: Draft, name: string, listed: HttpResponse) {
    this.draft = draft;
    this.name = name;
    for (const provider of draft.providers) {
      const own = listed.json.requisitions.find(
        (r: { dataProvider: string }) => r.dataProvider === provider.name,
      );
      this.ids.push(own.name.split('/').at(-1));
      this.etags.push([own.etag, undefined]);
    }
  }

  /** Replaces an etag that is not known yet: version 2 becomes version 1 until a response has shown version 2. */
  possible(input: Input): Input {
    if (!('etag' in input) || input.etag !== 2 || this.etags[input.i]![1] !== undefined) return input;
    return { ...input, etag: 1 };
  }

  private etag({ i, etag }: { i: number; etag: SentEtag }): string {
    if (etag === 'empty') return '';
    return etag === 0 ? '0123456789abcdef0123' : this.etags[i]![etag - 1]!;
  }

  /** Sends an input that `possible` returned. */
  send(world: World, at: number, input: Input): Promise<Reply> {
    return input.face === 'grpc' ? this.sendRpc(world, at, input) : this.sendRest(world, at, input);
  }

  private sendRest(world: World, at: number, input: Input): Promise<Reply> {
    const { consumer, providers } = this.draft;
    switch (input.kind) {
      case 'getMeasurement':
        return world.call(at, consumer.name, 'GET', this.name);
      case 'listRequisitions':
        return world.call(at, consumer.name, 'GET', `${this.name}/requisitions`);
      case 'getRequisition':
        return world.call(at, providers[input.i]!.name, 'GET', this.requisition(input));
      case 'cancel':
        return world.call(at, consumer.name, 'POST', `${this.name}:cancel`);
      case 'refuse': {
        const body = { refusal: { justification: 'DECLINED' }, etag: this.etag(input) };
        return world.call(at, providers[input.i]!.name, 'POST', `${this.requisition(input)}:refuse`, body);
      }
      case 'fulfill': {
        const provider = providers[input.i]!;
        const body = {
          ...fulfillment(provider, { etag: this.etag(input) }, this.nonce(input)),
          certificate: this.certificate(world, input),
        };
        return world.call(at, provider.name, 'POST', `${this.requisition(input)}:fulfillDirect`, body);
      }
    }
  }

  private sendRpc(world: World, at: number, input: Input): Promise<Reply> {
    const { consumer, providers } = this.draft;
    const { name } = this;
    const ofConsumer = (call: (rpcs: Rpcs) => Promise<object>) => world.rpc(at, consumer.name, call);
    if (input.kind === 'getMeasurement') return ofConsumer((rpcs) => rpc.get(rpcs, name));
    if (input.kind === 'listRequisitions') return ofConsumer((rpcs) => rpc.listRequisitions(rpcs, name));
    if (input.kind === 'cancel') return ofConsumer((rpcs) => rpc.cancel(rpcs, name));
    const requisition = this.requisition(input);
    return world.rpc(at, providers[input.i]!.name, (rpcs) => {
      if (input.kind === 'getRequisition') return rpc.getRequisition(rpcs, requisition);
      const etag = this.etag(input);
      if (input.kind === 'refuse') return rpc.refuse(rpcs, requisition, etag);
      const certificate = this.certificate(world, input);
      return rpc.fulfill(rpcs, { name: requisition, etag, nonce: this.nonce(input), certificate });
    });
  }

  private requisition({ i }: { i: number }): string {
    return `${this.draft.providers[i]!.name}/requisitions/${this.ids[i]}`;
  }

  private nonce({ i, nonce }: { i: number; nonce: 'right' | 'wrong' }): bigint {
    const right = this.draft.nonces[i]!;
    return nonce === 'right' ? right : right ^ 1n;
  }

  private certificate(world: World, { i, certificate }: { i: number; certificate: 'own' | 'foreign' }) {
    const own = this.draft.providers[i]!;
    return certificate === 'own' ? own.certificate : world.providers.find((p) => p !== own)!.certificate;
  }

  /**
   * Translates a response to an output of the model. Adds a violation for an error that the output does not show, such
   * as a wrong nonce, a wrong etag, or a change of an immutable field.
   */
  read(input: Input, response: HttpResponse, violations: Violations): Output {
    if (response.status !== 200) return response.reason;
    const { json } = response;
    switch (input.kind) {
      case 'cancel':
      case 'getMeasurement':
        return this.readMeasurement(response, input.face ?? 'rest', violations);
      case 'listRequisitions': {
        const all = json.requisitions as Requisition[];
        const ordered = this.ids.map((id) => all.find((r) => r.name.endsWith(`/${id}`)));
        if (all.length !== this.ids.length || ordered.includes(undefined)) {
          return `OK ${all.length} requisitions, not those of its creation`;
        }
        for (const [i, r] of ordered.entries()) this.readRequisition(r!, i, violations);
        const states = ordered.map((r) => r!.state);
        const measurements = new Set(ordered.map((r) => r!.measurementState));
        return showRequisitions(states, [...measurements].join(' and '));
      }
      default: {
        if (input.kind === 'fulfill' && input.face === 'grpc') return showFulfilled(json.state);
        const version = this.readRequisition(json, input.i, violations);
        const { nonces } = this.draft;
        // JSON.parse rounds 64-bit integers, so compare the text.
        if (json.state === 'FULFILLED' && !response.text.includes(`"nonce":${nonces[input.i]}`)) {
          violations.add(`${json.name} is FULFILLED with another nonce than ${nonces[input.i]}`);
        }
        return showRequisition(json.state, json.measurementState, version);
      }
    }
  }

  private readMeasurement({ json }: HttpResponse, face: Face, violations: Violations): Output {
    const { state, results = [], failure, updateTime: _time, ...rest } = json;
    const immutable = toJson(rest);
    const before = this.immutable.get(face) ?? immutable;
    this.immutable.set(face, before);
    if (immutable !== before) violations.add(`${this.name} changed what never changes`);
    const failed = this.ids.findIndex((id) => failure?.message.includes(`/requisitions/${id}: DECLINED`));
    if ((failure !== undefined) !== (state === 'FAILED'))
      violations.add(`${this.name}: failure while ${state}`);
    return showMeasurement(state, failed, results.length);
  }

  /**
   * Checks the etag, and returns its version. A requisition has one etag at its creation, another after its change, and
   * no third.
   */
  private readRequisition(r: Requisition, i: number, violations: Violations): EtagVersion {
    const etags = this.etags[i]!;
    const isFirst = r.etag === etags[0];
    if (r.state !== 'UNFULFILLED' && !isFirst) etags[1] ??= r.etag;
    const expected = r.state === 'UNFULFILLED' ? etags[0] : etags[1];
    if (r.etag !== expected) {
      const [first, second] = etags;
      violations.add(`${r.name} is ${r.state} with etag ${r.etag}; it had ${first}, then ${second}`);
    }
    return isFirst ? 1 : 2;
  }
}

interface Requisition {
  name: string;
  state: string;
  measurementState: string;
  etag: string;
}
