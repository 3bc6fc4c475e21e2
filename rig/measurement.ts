/** One measurement as its callers see it: how it is opened and acted on, and what a response says to the model. */
import { type DevParty, fulfillment, measurementRequest } from '@measurement-exchange/testkit/requests';
import type { Violations } from './harness.ts';
import {
  type EtagVersion,
  type Input,
  type Output,
  showMeasurement,
  showRequisition,
  showRequisitions,
} from './model.ts';
import type { Random } from './random.ts';
import type { HttpResponse, Reply } from './world/client.ts';
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
  return { consumer, providers, nonces, requestId: random.id(20), body };
}

export function createPath({ consumer, requestId }: Pick<Draft, 'consumer' | 'requestId'>): string {
  return `${consumer.name}/measurements?requestId=${requestId}`;
}

/** The measurement of a draft, once its name and requisitions are known. */
export class Subject {
  readonly name: string;
  readonly draft: Draft;
  /** IDs, in the order of the providers. */
  private readonly ids: string[] = [];
  /** By position: the etag it was created with, and the one after its change, once seen. */
  private readonly etags: [first: string, second: string | undefined][] = [];
  /** The fields that never change, as first read. */
  private immutable: string | undefined;

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

  /** The same with a version whose etag is known: the one as created, until another one was seen. */
  possible(input: Input): Input {
    if (!('etag' in input) || input.etag !== 2 || this.etags[input.i]![1] !== undefined) return input;
    return { ...input, etag: 1 };
  }

  private etag({ i, etag }: { i: number; etag: EtagVersion }): string {
    return etag === 0 ? '0123456789abcdef0123' : this.etags[i]![etag - 1]!;
  }

  /** The input must be possible. */
  send(world: World, at: number, input: Input): Promise<Reply> {
    const { consumer, providers, nonces } = this.draft;
    const own = (i: number) => `${providers[i]!.name}/requisitions/${this.ids[i]}`;
    switch (input.kind) {
      case 'getMeasurement':
        return world.call(at, consumer.name, 'GET', this.name);
      case 'listRequisitions':
        return world.call(at, consumer.name, 'GET', `${this.name}/requisitions`);
      case 'getRequisition':
        return world.call(at, providers[input.i]!.name, 'GET', own(input.i));
      case 'cancel':
        return world.call(at, consumer.name, 'POST', `${this.name}:cancel`);
      case 'refuse': {
        const { i } = input;
        const body = { refusal: { justification: 'DECLINED' }, etag: this.etag(input) };
        return world.call(at, providers[i]!.name, 'POST', `${own(i)}:refuse`, body);
      }
      case 'fulfill': {
        const { i } = input;
        const nonce = input.nonce === 'right' ? nonces[i]! : nonces[i]! ^ 1n;
        const body = fulfillment(providers[i]!, { etag: this.etag(input) }, nonce);
        if (input.certificate === 'foreign') {
          body.certificate = world.providers.find((p) => p !== providers[i])!.certificate;
        }
        return world.call(at, providers[i]!.name, 'POST', `${own(i)}:fulfillDirect`, body);
      }
    }
  }

  /** Reads a response. A response that no state of the model could produce is a violation by itself. */
  read(input: Input, response: HttpResponse, violations: Violations): Output {
    if (response.status !== 200) return response.reason;
    const { json } = response;
    switch (input.kind) {
      case 'cancel':
      case 'getMeasurement':
        return this.readMeasurement(response, violations);
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
        const version = this.readRequisition(json, input.i, violations);
        const { nonces } = this.draft;
        // JSON.parse rounds integers of 64 bits.
        if (json.state === 'FULFILLED' && !response.text.includes(`"nonce":${nonces[input.i]}`)) {
          violations.add(`${json.name} is FULFILLED with another nonce than ${nonces[input.i]}`);
        }
        return showRequisition(json.state, json.measurementState, version);
      }
    }
  }

  private readMeasurement({ json }: HttpResponse, violations: Violations): Output {
    const { state, results = [], failure, updateTime: _time, ...rest } = json;
    const immutable = JSON.stringify(rest);
    this.immutable ??= immutable;
    if (immutable !== this.immutable) violations.add(`${this.name} changed what never changes`);
    const failed = this.ids.findIndex((id) => failure?.message.includes(`/requisitions/${id}: DECLINED`));
    if ((failure !== undefined) !== (state === 'FAILED'))
      violations.add(`${this.name}: failure while ${state}`);
    return showMeasurement(state, failed, results.length);
  }

  /** One etag as created, another one after its change, and no third. */
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
