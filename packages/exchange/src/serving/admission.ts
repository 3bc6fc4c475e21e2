/**
 * Which requests are worked on, and who is next. A principal alone may use every slot; several share half of them, and
 * where that is not one slot for each, it is one at a time, and not all the time for one that has more than the others.
 * So who asks for more than the exchange can serve makes only itself wait.
 */
import { ExchangeError } from '@measurement-exchange/contract';
import { rateLimited } from './rateLimiter.ts';

/** As many as the pool has connections: one more would only wait there, behind whoever came first. */
const SLOTS = 16;
/** Who was here within this time counts as active: the others leave room for its next request. */
const ACTIVE_MS = 1_000;
/** What a principal has had is forgotten about as fast. */
const HELD_MS = 100;
/** However many are active: the part of the time in which each of them may hold a slot. */
const LEAST = 1 / 8;
/** Of the mean, what is much: where many are busy, none of them has more than the others. */
const MUCH = 3;
/** Of one principal: the burst that it has by default. */
const MAX_WAITING = 1_000;
/** Well below the ten seconds in which every request is answered: the operation comes after it. */
const MAX_WAIT_MS = 4_000;

interface Waiter {
  /** Whether nobody is left to answer. */
  gone: () => boolean;
  admit: () => void;
  refuse: (error: ExchangeError) => void;
  timer: NodeJS.Timeout;
}

/** Slots held, now and on average: the longer ago, the less it counts. */
class Held {
  slots = 0;
  private before = 0;
  private changedAt: number;

  constructor(time: number) {
    this.changedAt = time;
  }

  change(by: 1 | -1, time: number): void {
    this.before = this.average(time);
    this.changedAt = time;
    this.slots += by;
  }

  average(time: number): number {
    return this.slots + (this.before - this.slots) * Math.exp((this.changedAt - time) / HELD_MS);
  }
}

/** What one principal has here. */
interface Share {
  held: Held;
  queue: Waiter[];
  seenAt: number;
  /** Runs while it has had enough. */
  pause?: NodeJS.Timeout | undefined;
}

export class Admission {
  private readonly held: Held;
  /** Of the active principals. */
  private readonly shares = new Map<string, Share>();
  /** Those with a queue, whose turn it is next first. */
  private readonly waitingShares = new Set<Share>();
  private readonly runningShares = new Set<Share>();
  private readonly slots: number;
  private readonly clock: () => number;
  private sweptAt = 0;
  private granting = false;

  /** `clock` is monotonic, in milliseconds. */
  constructor(slots = SLOTS, clock: () => number = () => performance.now()) {
    this.slots = slots;
    this.clock = clock;
    this.held = new Held(clock());
  }

  get running(): number {
    return this.held.slots;
  }

  get waiting(): number {
    return [...this.waitingShares].reduce((sum, { queue }) => sum + queue.length, 0);
  }

  /** Runs `work` in a slot. `gone` tells whether the caller has hung up. */
  async run<T>(principal: string, gone: () => boolean, work: () => Promise<T>): Promise<T> {
    const turn = this.enter(principal, gone);
    if (turn !== undefined) await turn;
    try {
      return await work();
    } finally {
      this.leave(principal);
    }
  }

  /** Undefined: it may go on at once. Otherwise when the promise resolves. In both cases: `leave` when it is done. */
  enter(principal: string, gone: () => boolean): Promise<void> | undefined {
    const share = this.shareOf(principal);
    // While slots are about to be handed out, nobody comes in past those who wait for them.
    if (share.queue.length === 0 && !this.granting && this.hasRoomFor(share)) {
      this.change(share, 1);
      return undefined;
    }
    if (share.queue.length >= MAX_WAITING) {
      for (const waiter of share.queue.filter(({ gone }) => gone())) this.take(share, waiter).refuse(left());
    }
    if (share.queue.length >= MAX_WAITING) throw rateLimited('Too many requests', 1);
    return new Promise((admit, refuse) => {
      const timer = setTimeout(() => this.take(share, waiter).refuse(busy()), MAX_WAIT_MS);
      const waiter: Waiter = { gone, admit, refuse, timer };
      share.queue.push(waiter);
      this.waitingShares.add(share);
    });
  }

  leave(principal: string): void {
    const share = this.shares.get(principal)!;
    this.change(share, -1);
    if (this.waitingShares.size === 0 || this.granting) return;
    // In a turn of its own: a queue of operations that wait for nothing would otherwise hold up everything else.
    this.granting = true;
    setImmediate(() => this.grant());
  }

  private change(share: Share, by: 1 | -1): void {
    const now = this.clock();
    this.held.change(by, now);
    share.held.change(by, now);
    if (share.held.slots > 0) this.runningShares.add(share);
    else this.runningShares.delete(share);
  }

  /** The free slots, to one principal after the other. */
  private grant(): void {
    this.granting = false;
    for (const share of this.waitingShares) {
      if (!this.hasRoomFor(share)) continue;
      const waiter = this.take(share, share.queue[0]!);
      // To the end: this very loop comes to it again.
      if (this.waitingShares.delete(share)) this.waitingShares.add(share);
      if (waiter.gone()) {
        waiter.refuse(left());
        continue;
      }
      this.change(share, 1);
      waiter.admit();
    }
  }

  private take(share: Share, waiter: Waiter): Waiter {
    clearTimeout(waiter.timer);
    share.queue.splice(share.queue.indexOf(waiter), 1);
    if (share.queue.length === 0) this.waitingShares.delete(share);
    return waiter;
  }

  private hasRoomFor(share: Share): boolean {
    if (this.running >= this.slots) return false;
    if (this.shares.size === 1) return true;
    // The other half stays free for whoever comes next: what is ahead of a request is what it has to wait for.
    const part = this.slots / 2 / this.shares.size;
    if (part >= 1) return share.held.slots < Math.floor(part);
    return share.held.slots === 0 && this.hasTimeFor(share, part);
  }

  /**
   * Part of a slot is part of the time, and half of that stays free, too: beside a processor that is never idle
   * everyone is slow. Who has had its time, and much more than the others, waits; beside one that has had less, half
   * of it is enough.
   */
  private hasTimeFor(share: Share, part: number): boolean {
    const now = this.clock();
    const most = Math.max(part / 2, LEAST);
    const had = share.held.average(now);
    if (had <= Math.max(most / 2, (MUCH * this.held.average(now)) / this.shares.size)) return true;
    const hadLess = ({ held }: Share) => held.average(now) <= most / 2;
    const enough = [...this.runningShares].some(hadLess) ? most / 2 : most;
    if (had <= enough) return true;
    share.pause ??= setTimeout(() => this.resume(share), HELD_MS * Math.log(had / enough));
    return false;
  }

  private resume(share: Share): void {
    share.pause = undefined;
    this.grant();
  }

  private shareOf(principal: string): Share {
    const now = this.clock();
    if (now - this.sweptAt >= ACTIVE_MS) this.sweep(now);
    let share = this.shares.get(principal);
    if (share === undefined) {
      share = { held: new Held(now), queue: [], seenAt: now };
      this.shares.set(principal, share);
    }
    share.seenAt = now;
    return share;
  }

  private sweep(now: number): void {
    this.sweptAt = now;
    for (const [principal, { held, queue, seenAt }] of this.shares) {
      if (held.slots === 0 && queue.length === 0 && now - seenAt >= ACTIVE_MS) this.shares.delete(principal);
    }
  }
}

function busy(): ExchangeError {
  return new ExchangeError('UNAVAILABLE', 'The exchange is busy: retry.', { retryAfterSeconds: 1 });
}

function left(): ExchangeError {
  return new ExchangeError('MALFORMED_REQUEST', 'The caller left before it was its turn.');
}
