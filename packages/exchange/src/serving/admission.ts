/**
 * Decides which request runs next.
 *
 * Requests run in a fixed number of slots. The requests of one principal form a flow with its own queue, and flows take
 * turns. Two or more flows share only half of the slots, so that the busiest flow cannot use the whole CPU. If half of
 * the slots is less than one slot per flow, each flow may use one slot at a time, and a token bucket limits the flow's
 * slot time. Slot time is the total time that the flow's requests hold slots.
 *
 * The algorithms are fair queueing (Nagle, RFC 970), SFQ(D) for several slots (Jin, Chase, and Kaur 2004), and CPU
 * bandwidth control (Turner, Rao, and Rao 2010).
 */
import { WaitingQueue } from './waitingQueue.ts';

/**
 * The number of requests that run at the same time. This number equals the size of the database pool, because more
 * requests would only wait for a connection.
 */
const SLOTS = 16;
/**
 * A flow stays active for this time after its last request. Active flows share the slots, even if they have no
 * requests.
 */
const ACTIVE_MS = 1_000;
/**
 * The limit on a flow's credit, which is the slot time that the flow earned minus the slot time that it used. A flow
 * may save up or owe at most this much slot time.
 */
const BURST_MS = 20;
/** Every flow earns enough credit to use one slot for this fraction of the time, even if many flows are active. */
const MIN_RATE = 1 / 8;
/** A flow may use up to this many times the average flow's slot time without waiting for credit. */
const MEAN_MULTIPLE = 3;
const LOAD_MS = 100;

interface Flow {
  queue: WaitingQueue;
  slots: number;
  seenAt: number;
  /** The credit at the time `creditAt`, in milliseconds of slot time. */
  credit: number;
  creditAt: number;
  pause?: NodeJS.Timeout | undefined;
}

export class Admission {
  running = 0;
  private readonly flows = new Map<string, Flow>();
  /** Flows with waiting requests. The first flow is the next to get a slot. */
  private readonly backlog = new Set<Flow>();
  private readonly slots: number;
  private readonly clock: () => number;
  /** The moving average of the number of slots in use, at the time `loadAt`. */
  private load = 0;
  private loadAt = 0;
  private sweptAt = 0;
  /**
   * The number of times that `leave` has granted slots immediately. Reset when slots are granted in a later turn of the
   * event loop.
   */
  private handedOn = 0;
  private granting = false;
  private readonly maxWaiting: number | undefined;

  /** `clock` is monotonic, in milliseconds. `maxWaiting` limits each principal's queue. */
  constructor(slots = SLOTS, clock: () => number = () => performance.now(), maxWaiting?: number) {
    this.slots = slots;
    this.clock = clock;
    this.maxWaiting = maxWaiting;
  }

  get waiting(): number {
    return [...this.backlog].reduce((sum, { queue }) => sum + queue.length, 0);
  }

  async run<T>(principal: string, isGone: () => boolean, work: () => Promise<T>): Promise<T> {
    const turn = this.enter(principal, isGone);
    if (turn !== undefined) await turn;
    try {
      return await work();
    } finally {
      this.leave(principal);
    }
  }

  async outside<T>(principal: string, work: () => Promise<T>): Promise<T> {
    this.leave(principal);
    try {
      return await work();
    } finally {
      // Take a slot even if no slot is free, because other requests may be waiting for locks that this request holds.
      this.change(this.flowOf(principal), 1);
    }
  }

  /**
   * Returns undefined if the request gets a slot immediately. Otherwise returns a promise that resolves when the
   * request gets a slot. The caller must call `leave` when the request is done.
   */
  enter(principal: string, isGone: () => boolean): Promise<void> | undefined {
    const flow = this.flowOf(principal);
    // A new request must not overtake waiting requests that are about to get a slot.
    if (flow.queue.length === 0 && !this.granting && this.mayBegin(flow)) {
      this.change(flow, 1);
      return undefined;
    }
    this.backlog.add(flow);
    return flow.queue.wait(isGone);
  }

  leave(principal: string): void {
    this.change(this.flows.get(principal)!, -1);
    if (this.backlog.size === 0 || this.granting) return;
    if (this.handedOn < this.slots) {
      this.handedOn++;
      this.grant();
      return;
    }
    // Grant slots in a later turn of the event loop. Otherwise a queue of requests that finish without waiting would
    // block all other work.
    this.granting = true;
    setImmediate(() => {
      this.granting = false;
      this.handedOn = 0;
      this.grant();
    });
  }

  private grant(): void {
    for (const flow of this.backlog) {
      if (flow.queue.length > 0 && !this.mayBegin(flow)) continue;
      this.backlog.delete(flow);
      if (!flow.queue.admitFirst()) continue;
      this.change(flow, 1);
      // Add the flow at the end of the set, so that the loop reaches the flow again.
      if (flow.queue.length > 0) this.backlog.add(flow);
    }
  }

  private mayBegin(flow: Flow): boolean {
    if (this.running >= this.slots) return false;
    if (this.flows.size === 1) return true;
    // Divide only half of the slots among the flows, so that the first requests of new flows usually need not wait.
    const share = this.slots / 2 / this.flows.size;
    if (share >= 1) return flow.slots < Math.floor(share);
    return flow.slots === 0 && this.hasCredit(flow);
  }

  private hasCredit(flow: Flow): boolean {
    const rate = this.settle(flow);
    if (flow.credit >= 0) return true;
    flow.pause ??= setTimeout(() => {
      flow.pause = undefined;
      this.grant();
    }, -flow.credit / rate);
    return false;
  }

  /**
   * Updates a flow's credit and returns its rate. Credit grows at this rate and shrinks by the slot time that the flow
   * uses.
   */
  private settle(flow: Flow): number {
    const now = this.clock();
    this.load = this.running + (this.load - this.running) * Math.exp((this.loadAt - now) / LOAD_MS);
    this.loadAt = now;
    const flows = this.flows.size;
    // The first value is half of the share that `mayBegin` computes. If every flow used its full share, every caller
    // would wait for the CPU.
    const rate = Math.max(this.slots / 4 / flows, MIN_RATE, (MEAN_MULTIPLE * this.load) / flows);
    const credit = flow.credit + (rate - flow.slots) * (now - flow.creditAt);
    flow.credit = Math.min(BURST_MS, Math.max(-BURST_MS, credit));
    flow.creditAt = now;
    return rate;
  }

  private change(flow: Flow, by: 1 | -1): void {
    this.settle(flow);
    flow.slots += by;
    this.running += by;
  }

  private flowOf(principal: string): Flow {
    const now = this.clock();
    if (now - this.sweptAt >= ACTIVE_MS) this.sweep(now);
    let flow = this.flows.get(principal);
    if (flow === undefined) {
      flow = {
        queue: new WaitingQueue(this.maxWaiting),
        slots: 0,
        seenAt: now,
        credit: BURST_MS,
        creditAt: now,
      };
      this.flows.set(principal, flow);
    }
    flow.seenAt = now;
    return flow;
  }

  private sweep(now: number): void {
    this.sweptAt = now;
    for (const [principal, { slots, queue, seenAt }] of this.flows) {
      if (slots === 0 && queue.length === 0 && now - seenAt >= ACTIVE_MS) this.flows.delete(principal);
    }
  }
}
