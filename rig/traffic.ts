/**
 * Clients that act on the same few measurements at the same time, through every exchange. After at most
 * `operationsEach` operations a measurement is retired and then settled: it is read once more, and its history is
 * checked. If faults are injected, the measurement is settled only after the next recovery, so that the final read
 * shows whether acknowledged writes survived the fault.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isLinearizable, lostWrites, type Operation } from './checker.ts';
import type { Context } from './harness.ts';
import { anyInput } from './inputs.ts';
import { type Draft, draft, Subject, sendCreate } from './measurement.ts';
import { created, type Face, type Input } from './model.ts';
import type { Random } from './random.ts';
import type { HttpResponse, Reply } from './world/client.ts';
import type { World } from './world.ts';

export interface TrafficOptions {
  clients: number;
  /** Whether faults are injected. If so, a missing response, 503 and 504 count as unknown outcomes. */
  faults: boolean;
  /** Each request uses a random one of these APIs. */
  faces?: Face[];
  /** The number of measurements that are active at the same time. */
  hot?: number;
  operationsEach?: number;
  /** The average pause between two requests of a client. It leaves processor time for crashed processes to restart. */
  pauseMs?: number;
}

interface History {
  subject: Subject;
  operations: Operation[];
  issued: number;
  inFlight: number;
}

/** The maximum wait until a request succeeds. After a fault, requests succeed much sooner. */
const PATIENCE_MS = 30_000;

export class Traffic {
  /** The number of operations whose responses were checked. */
  operations = 0;
  /** The number of unknown outcomes. */
  unknown = 0;
  private readonly world: World;
  private readonly context: Context;
  private readonly options: Required<TrafficOptions>;
  private readonly slots: (History | 'opening' | undefined)[];
  private left: History[] = [];
  private stopping = false;
  private clients: Promise<void>[] = [];

  constructor(world: World, context: Context, options: TrafficOptions) {
    this.world = world;
    this.context = context;
    this.options = { faces: ['rest'], hot: 8, operationsEach: 40, pauseMs: 0, ...options };
    this.slots = Array(this.options.hot).fill(undefined);
  }

  start(): void {
    const { clients } = this.options;
    this.clients = Array.from({ length: clients }, (_, i) =>
      this.client(this.context.random.fork(`client ${i}`)),
    );
    // `stop` reports the error of a client. Until then it must not count as an unhandled rejection.
    for (const client of this.clients) client.catch(() => {});
  }

  /** Stops the clients, and settles every measurement. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.clients);
    for (const history of this.slots.splice(0)) {
      if (typeof history === 'object') this.left.push(history);
    }
    await this.settle();
  }

  /** Reads and checks the retired measurements. If faults are injected, call this function after a recovery. */
  async settle(): Promise<void> {
    const settling = this.left.filter(({ inFlight }) => inFlight === 0);
    this.left = this.left.filter(({ inFlight }) => inFlight > 0);
    const random = this.context.random.fork(`settling ${this.operations}`);
    const work = settling.values();
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (const history of work) await this.check(history, random);
      }),
    );
  }

  private async client(random: Random): Promise<void> {
    while (!this.stopping && !this.enough()) {
      const slot = random.int(this.slots.length);
      const history = this.slots[slot];
      if (history === 'opening') {
        await sleep(1);
      } else if (history === undefined) {
        // This client opens the measurement. Meanwhile the other clients use other slots.
        this.slots[slot] = 'opening';
        this.slots[slot] = await this.open(random);
      } else if (history.issued >= this.options.operationsEach) {
        this.slots[slot] = undefined;
        this.left.push(history);
        if (!this.options.faults) await this.settle();
      } else {
        await this.act(history, random);
        if (this.options.pauseMs > 0) await sleep(random.int(2 * this.options.pauseMs));
      }
    }
  }

  /** Returns whether the clients can stop early. With a planted bug, they stop after the first violation. */
  private enough(): boolean {
    return this.context.planted !== undefined && this.world.violations.any;
  }

  private async act(history: History, random: Random): Promise<void> {
    const { subject } = history;
    const input = subject.possible(anyInput(random, subject.draft.providers.length, this.options.faces));
    const at = random.int(this.world.exchanges.length);
    history.issued++;
    history.inFlight++;
    const call = performance.now();
    const reply = await subject.send(this.world, at, input);
    this.record(history, input, call, reply);
    history.inFlight--;
    if (reply.kind === 'unsent') await sleep(20);
  }

  private record(history: History, input: Input, call: number, reply: Reply): void {
    const operation = { input, call, return: performance.now() };
    if (reply.kind === 'unsent') {
      this.blame(reply.why);
    } else if (isKnown(reply)) {
      this.operations++;
      const output = history.subject.read(input, reply, this.world.violations);
      history.operations.push({ ...operation, output });
    } else {
      this.unknown++;
      this.blame(reasonOf(reply));
      // A read with an unknown outcome has no effect and no result, so it need not be checked.
      const isRead = ['getMeasurement', 'listRequisitions', 'getRequisition'].includes(input.kind);
      if (!isRead) history.operations.push({ ...operation, output: undefined });
    }
  }

  private blame(why: string): void {
    if (!this.options.faults) this.world.violations.add(`No fault was made, and yet: ${why}`);
    else if (why.startsWith('no response within')) this.world.violations.add(`A request got ${why}`);
  }

  /**
   * Sends one to three creates in parallel with one requestId, and spreads them over the exchanges. They must create
   * only one measurement.
   */
  private async open(random: Random): Promise<History | undefined> {
    const { world } = this;
    const made = draft(world, random);
    const copies = 1 + random.int(3);
    const names = new Set<string>();
    const first = random.int(world.exchanges.length);
    const create = (at: number) => sendCreate(world, at, made, this.anyFace(random));
    const replies = await Promise.all(
      Array.from({ length: copies }, (_, i) => create((first + i) % world.exchanges.length)),
    );
    for (const reply of replies) this.created(reply, names);
    if (names.size === 0) {
      // The measurement may or may not exist. Send the same request again, which returns the measurement in both cases.
      const response = await this.insist(random, create);
      if (response === undefined) return undefined;
      this.created(response, names);
    }
    if (names.size > 1) world.violations.add(`requestId ${made.requestId} made ${[...names].join(' and ')}`);
    if (random.chance(0.1)) await this.reuse(made, random, names);
    const [name] = names;
    return name === undefined ? undefined : this.opened(made, name, random);
  }

  private created(reply: Reply, names: Set<string>): void {
    if (!isKnown(reply)) {
      if (reply.kind !== 'unsent') this.unknown++;
      this.blame(reasonOf(reply));
      return;
    }
    this.operations++;
    if (reply.status === 200) names.add(reply.json.name);
    else this.world.violations.add(`A good measurement was not created: ${reply.text}`);
  }

  private async opened(made: Draft, name: string, random: Random): Promise<History | undefined> {
    const { world } = this;
    const listed = await this.insist(random, (at) =>
      world.call(at, made.consumer.name, 'GET', `${name}/requisitions`),
    );
    if (listed === undefined) return undefined;
    this.operations++;
    const count = listed.json?.requisitions?.length;
    if (count === made.providers.length) {
      return { subject: new Subject(made, name, listed), operations: [], issued: 0, inFlight: 0 };
    }
    world.tally.lostAcknowledgements++;
    world.violations.add(
      `${name} was acknowledged with ${made.providers.length} providers, then: ${listed.text}`,
    );
    await this.save(name, listed.text);
    return undefined;
  }

  /**
   * Reuses a requestId with other content. The exchange must reject the request, and the error must name the existing
   * measurement.
   */
  private async reuse(made: Draft, random: Random, names: Set<string>): Promise<void> {
    const { world } = this;
    const other = { ...made, body: { ...made.body, measurementReferenceId: 'another' } };
    const at = random.int(world.exchanges.length);
    const reply = await sendCreate(world, at, other, this.anyFace(random));
    if (!isKnown(reply)) return;
    this.operations++;
    const existing = reply.json?.error?.details?.[0]?.metadata?.existing;
    if (reply.reason === 'REQUEST_ID_REUSED' && names.has(existing)) return;
    world.violations.add(`Another content under requestId ${made.requestId} got ${reply.text}`);
  }

  /** Asks random exchanges until the outcome is known (see `isKnown`). It is a violation if this takes too long. */
  private async insist(
    random: Random,
    ask: (at: number) => Promise<Reply>,
  ): Promise<HttpResponse | undefined> {
    const started = Date.now();
    while (Date.now() - started < PATIENCE_MS) {
      const reply = await ask(random.int(this.world.exchanges.length));
      if (isKnown(reply)) return reply;
      this.blame(reasonOf(reply));
      await sleep(50);
    }
    this.world.violations.add(`Nothing succeeded for ${PATIENCE_MS / 1000} s`);
    return undefined;
  }

  private anyFace(random: Random): Face {
    return random.pick(this.options.faces);
  }

  private async check(history: History, random: Random): Promise<void> {
    const { subject, operations } = history;
    const input: Input = { kind: 'listRequisitions', face: this.anyFace(random) };
    let call = 0;
    const response = await this.insist(random, (at) => {
      call = performance.now();
      return subject.send(this.world, at, input);
    });
    if (response !== undefined) {
      this.operations++;
      const output = subject.read(input, response, this.world.violations);
      this.world.tally.lostAcknowledgements += lostWrites(operations, output);
      operations.push({ input, output, call, return: performance.now() });
    }
    if (isLinearizable(operations, created(subject.draft.providers.length))) return;
    this.world.violations.add(`No order of its operations explains ${subject.name}: ${last(operations)}`);
    await this.save(subject.name, operations);
  }

  private async save(name: string, history: unknown): Promise<void> {
    const facts = await this.world.facts(name).catch(String);
    this.context.save(`${name.split('/').at(-1)}.json`, { name, history, facts });
  }
}

/** Whether the outcome is known. After 503 and 504, a write may or may not have taken effect. */
function isKnown(reply: Reply): reply is HttpResponse {
  return reply.kind === 'response' && reply.status !== 503 && reply.status !== 504;
}

function reasonOf(reply: Reply): string {
  return reply.kind === 'response' ? reply.text : reply.why;
}

function last(operations: Operation[]): string {
  return operations
    .slice(-3)
    .map(({ input, output }) => `${input.kind}: ${output}`)
    .join('; ');
}
