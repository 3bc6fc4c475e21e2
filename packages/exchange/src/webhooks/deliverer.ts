/**
 * Delivers to webhooks in the background. A webhook is leased for a round: changes are taken in from the log, sent in the
 * order of each resource, and the outcomes are stored. Any number of exchanges share the work, and whoever waits for a slow
 * endpoint waits alone.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Timestamp, timestampOf } from '@measurement-exchange/contract';
import type { Secrets } from '@measurement-exchange/server';
import { readChanges } from '../database/changes.ts';
import type { Database } from '../database/db.ts';
import {
  type NumberedDelivery,
  pendingDeliveries,
  type Settled,
  settle,
  takeIn,
} from '../database/webhookDeliveries.ts';
import { claimWebhooks, type LeasedWebhook, MAX_PENDING } from '../database/webhooks.ts';
import { endRound, messageId, payloadOf, retrySeconds, signedHeaders } from '../domain/webhook.ts';
import { type Outcome, SEND_MS, send } from './send.ts';

/** Webhooks at a time. */
const MAX_WORKING = 64;
/** A party with so many gets no more of them, and few are claimed at once: slow endpoints do not take what others need. */
const MAX_WORKING_OF_PARTY = 4;
const MAX_CLAIMED = 4;
/** Connections to one endpoint at a time, each for another resource. */
const MAX_CONNECTIONS = 8;
/** After this time a round begins no further delivery. */
const ROUND_MS = 5_000;
/** Longer than any round, so that a lease expires only when its holder is gone. */
const LEASE_MS = ROUND_MS + SEND_MS + 15_000;
/** How often it looks for what another process has committed. */
const LOOK_MS = 500;
/** Pages of the log that a round skips at most, where the filter wants nothing of them. */
const MAX_SKIPPED_PAGES = 10;

/** What it needs of the exchange. */
export interface DelivererOptions {
  db: Database;
  clock: () => Timestamp;
  secrets: Secrets;
  /** Allows http, and endpoints on this machine. */
  allowsHttp: boolean;
}

export class Deliverer {
  /** In the leases: another process, also one with the same process ID, is another owner. */
  private readonly owner = randomUUID();
  private readonly options: DelivererOptions;
  private readonly working = new Map<Promise<void>, string>();
  private readonly stopping = new AbortController();
  /** Why a round failed; told by the next run. */
  private failure: unknown;

  constructor(options: DelivererOptions) {
    this.options = options;
  }

  /** Starts what is due, and waits until some of it is done; true while there may be more. */
  async run(): Promise<boolean> {
    const { db, clock } = this.options;
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
    for (let more = true; more && this.working.size < MAX_WORKING; ) {
      const now = clock();
      const lease = { owner: this.owner, now, expiry: later(now, LEASE_MS) };
      const claimed = await claimWebhooks(db, lease, MAX_CLAIMED, this.busyParties());
      for (const leased of claimed) this.start(leased);
      more = claimed.length === MAX_CLAIMED;
    }
    if (this.working.size === 0) return false;
    const waiting = new AbortController();
    await Promise.race([
      ...this.working.keys(),
      sleep(LOOK_MS, undefined, { signal: waiting.signal }).catch(() => {}),
    ]);
    waiting.abort();
    return true;
  }

  /** Ends what is being sent; what has no outcome yet is sent again by whoever comes next. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.allSettled(this.working.keys());
  }

  private busyParties(): string[] {
    const counts = new Map<string, number>();
    for (const party of this.working.values()) counts.set(party, (counts.get(party) ?? 0) + 1);
    return [...counts].filter(([, count]) => count >= MAX_WORKING_OF_PARTY).map(([party]) => party);
  }

  private start(leased: LeasedWebhook): void {
    // What a round that fails had leased is delivered when the lease is over.
    const round = this.round(leased)
      .catch((error) => {
        this.failure = error;
      })
      .finally(() => this.working.delete(round));
    this.working.set(round, leased.webhook.party);
  }

  private async round(leased: LeasedWebhook): Promise<void> {
    const { db, clock } = this.options;
    const { id, state } = leased.webhook;
    if (state === 'ACTIVE') await this.takeInChanges(leased);
    const pending = await pendingDeliveries(db, id);
    const chains = dueChains(pending, clock(), state === 'PAUSED');
    const settled = await this.sendAll(leased, chains);
    const now = clock();
    const failing = pending.filter(({ number }) =>
      settled.some((s) => s.number === number && s.state === 'PENDING'),
    );
    const end = endRound(
      {
        failures: leased.failures,
        settled,
        failingSince: failing.map((f) => f.delivery.firstFailureTime ?? now),
      },
      now,
    );
    const nextAttemptTime = end.isDead ? later(now, 1000 * retrySeconds(end.failures, random())) : now;
    await db.tx('settleWebhook', async (tx) =>
      settle(tx, { webhook: id, owner: this.owner }, settled, { ...end, nextAttemptTime }),
    );
  }

  /** Makes deliveries of what changed, as many as may be pending. */
  private async takeInChanges({ webhook, cursor }: LeasedWebhook): Promise<void> {
    const { db, clock } = this.options;
    const lease = { webhook: webhook.id, owner: this.owner, now: clock() };
    let from = cursor;
    let room = MAX_PENDING - (await pendingDeliveries(db, webhook.id)).length;
    for (let pages = 0; room > 0 && pages < MAX_SKIPPED_PAGES; pages++) {
      const kept = await readChanges(db, webhook.party, from, room);
      const page = kept ?? (await readChanges(db, webhook.party, 'OLDEST', room))!;
      const wanted = page.changes.filter(
        ({ change }) => webhook.kinds.length === 0 || webhook.kinds.includes(change.kind),
      );
      const isMoved = page.changes.length > 0 || kept === undefined;
      const skipped = kept === undefined ? lease.now : undefined;
      if (!isMoved || !(await takeIn(db, lease, from, page.next, wanted, skipped))) return;
      if (page.changes.length < room) return;
      from = page.next;
      room -= wanted.length;
    }
  }

  /** Each chain in order, several at a time. An endpoint at which nothing works gets no more than the first of them. */
  private async sendAll(leased: LeasedWebhook, chains: NumberedDelivery[][]): Promise<Settled[]> {
    const until = performance.now() + ROUND_MS;
    const settled: Settled[] = [];
    const isOver = () =>
      this.stopping.signal.aborted ||
      performance.now() > until ||
      (settled.length > 0 && settled.every(({ state }) => state !== 'DELIVERED'));
    const queue = chains.values();
    const work = async () => {
      for (const chain of queue) {
        for (const one of chain) {
          if (isOver()) return;
          const outcome = await this.send(leased, one);
          if (this.stopping.signal.aborted && outcome.status === undefined) return;
          const result = this.settled(one, outcome);
          settled.push(result);
          if (result.state === 'PENDING') break;
        }
      }
    };
    await Promise.all(Array.from({ length: MAX_CONNECTIONS }, work));
    return settled;
  }

  private send(
    { webhook, secret, oldSecret }: LeasedWebhook,
    { delivery }: NumberedDelivery,
  ): Promise<Outcome> {
    const { clock, secrets, allowsHttp } = this.options;
    const payload = payloadOf(delivery.event);
    const keys = [secret, ...(oldSecret === null ? [] : [oldSecret])].map((sealed) =>
      secrets.open(webhook.id, sealed),
    );
    const at = Math.floor(Date.parse(clock()) / 1000);
    const headers = signedHeaders(messageId(webhook.id, delivery.event), at, payload, keys);
    return send({ url: webhook.url, headers, payload }, allowsHttp, this.stopping.signal);
  }

  private settled({ delivery, number }: NumberedDelivery, { status, error, milliseconds }: Outcome): Settled {
    const time = this.options.clock();
    const isDelivered = status !== undefined && status >= 200 && status < 300;
    // A test is for somebody who looks at its outcome.
    const state = isDelivered ? 'DELIVERED' : delivery.event.kind === 'TEST' ? 'FAILED' : 'PENDING';
    const delay = 1000 * retrySeconds(delivery.attempts + 1, random());
    const nextAttemptTime = state === 'PENDING' ? later(time, delay) : undefined;
    return {
      number,
      resource: delivery.event.name,
      state,
      time,
      nextAttemptTime,
      status,
      error,
      milliseconds,
    };
  }
}

/** For each resource what is pending, in order; nothing of it where the first is not due. */
function dueChains(pending: NumberedDelivery[], now: Timestamp, isPaused: boolean): NumberedDelivery[][] {
  const wanted = isPaused ? pending.filter(({ delivery }) => delivery.event.kind === 'TEST') : pending;
  const chains = Map.groupBy(wanted, ({ delivery }) => delivery.event.name);
  return [...chains.values()].filter(([first]) => first!.delivery.nextAttemptTime! <= now);
}

function later(time: Timestamp, milliseconds: number): Timestamp {
  return timestampOf(Date.parse(time) + milliseconds);
}

function random(): number {
  return randomInt(2 ** 32) / 2 ** 32;
}
