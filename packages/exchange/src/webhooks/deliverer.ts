/**
 * Delivers to webhooks in the background. A webhook is leased for a round: changes are taken in from the log, sent in the
 * order of each resource, and the outcomes are stored. Any number of exchanges share the work, and whoever waits for a slow
 * endpoint waits alone.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Timestamp, timestampOf } from '@measurement-exchange/contract';
import type { Secrets } from '@measurement-exchange/server';
import { telemetry } from '@measurement-exchange/server/telemetry';
import { type ChangePage, type Position, readChanges } from '../database/changes.ts';
import type { Database } from '../database/db.ts';
import {
  type NumberedDelivery,
  pendingDeliveries,
  type Settled,
  settle,
  takeIn,
  traceparentsOf,
} from '../database/webhookDeliveries.ts';
import { claimWebhooks, type LeasedWebhook, MAX_PENDING, partiesWithWebhooks } from '../database/webhooks.ts';
import {
  endRound,
  messageId,
  payloadOf,
  retryAfterSeconds,
  retrySeconds,
  signedHeaders,
  webhookName,
} from '../domain/webhook.ts';
import type { Destinations } from './destinations.ts';
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
/** Between two looks for what changed. */
const LOOK_EVERY_MS = 20;
/** Until what is committed can be read, because an older transaction runs: the first wait, doubled up to the last. */
const HORIZON_MS = 2;
const MAX_HORIZON_MS = 256;
/** Pages of the log that a round skips at most, where the filter wants nothing of them. */
const MAX_SKIPPED_PAGES = 10;

/** How an attempt ended: with success, with another status, or without a response. */
export type DeliveryOutcome = 'delivered' | 'rejected' | 'unreachable';

/** For the metrics. `seconds`: since the change. */
export interface DeliveryObserver {
  delivery(outcome: DeliveryOutcome, seconds: number): void;
}

/** What it needs of the exchange. */
export interface DelivererOptions {
  db: Database;
  clock: () => Timestamp;
  secrets: Secrets;
  destinations: Destinations;
}

export class Deliverer {
  private readonly options: DelivererOptions;
  private readonly observer: DeliveryObserver | undefined;
  private readonly working = new Map<Promise<void>, string>();
  /** With webhooks, as of the last run. */
  private parties = new Set<string>();
  /** Those of them to look at soon. */
  private readonly changedParties = new Set<string>();
  private claiming: Promise<void> | undefined;
  private looking: Promise<void> | undefined;
  private lookedAt = 0;
  private readonly stopping = new AbortController();
  /** Why a round failed; told by the next run. */
  private failure: unknown;

  constructor(options: DelivererOptions, observer?: DeliveryObserver) {
    this.options = options;
    this.observer = observer;
  }

  /** A net for what nobody was told of, and for what is due again. Starts what is due, of all parties. */
  async run(): Promise<boolean> {
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
    this.parties = await partiesWithWebhooks(this.options.db);
    if (this.parties.size === 0) return false;
    this.claiming = this.claim(undefined);
    await this.claiming;
    return false;
  }

  /** Something changed for these parties: what is to be delivered starts within a moment. */
  changed(parties: Iterable<string>): void {
    for (const party of parties) if (this.parties.has(party)) this.changedParties.add(party);
    if (this.changedParties.size === 0 || this.stopping.signal.aborted) return;
    this.looking ??= this.look();
  }

  /** One look at a time, until nothing changed during the last one. */
  private async look(): Promise<void> {
    while (this.changedParties.size > 0 && !this.stopping.signal.aborted) {
      const wait = Math.max(0, this.lookedAt + LOOK_EVERY_MS - performance.now());
      await sleep(wait, undefined, { signal: this.stopping.signal }).catch(() => {});
      const parties = [...this.changedParties];
      this.changedParties.clear();
      this.lookedAt = performance.now();
      await this.claim(parties).catch((error) => {
        this.failure = error;
      });
    }
    this.looking = undefined;
  }

  private async claim(only: string[] | undefined): Promise<void> {
    const { db, clock } = this.options;
    for (let more = true; more && this.working.size < MAX_WORKING && !this.stopping.signal.aborted; ) {
      const parties = { except: this.busyParties(), only };
      const claimed = await claimWebhooks(db, clock(), LEASE_MS, MAX_CLAIMED, parties);
      for (const leased of claimed) this.start(leased);
      more = claimed.length === MAX_CLAIMED;
    }
  }

  /** Ends what is being sent; what has no outcome yet is sent again by whoever comes next. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.allSettled([this.claiming, this.looking]);
    await Promise.allSettled(this.working.keys());
  }

  private busyParties(): string[] {
    const counts = new Map<string, number>();
    for (const party of this.working.values()) counts.set(party, (counts.get(party) ?? 0) + 1);
    return [...counts].filter(([, count]) => count >= MAX_WORKING_OF_PARTY).map(([party]) => party);
  }

  private start(leased: LeasedWebhook): void {
    const { party } = leased.webhook;
    // What a round that fails had leased is delivered when the lease is over.
    const round = this.round(leased)
      .catch((error) => {
        this.failure = error;
      })
      .finally(() => {
        const wasFull = this.working.size >= MAX_WORKING;
        this.working.delete(round);
        // There may be more, and others may have waited for a place.
        this.changed(wasFull ? this.parties : [party]);
      });
    this.working.set(round, party);
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
    const nextAttemptTime = end.isDead ? afterFailures(end.failures, now, ...settled) : now;
    await db.tx('settleWebhook', async (tx) =>
      settle(tx, { webhook: id, owner: leased.owner }, settled, { ...end, nextAttemptTime }),
    );
  }

  /** Makes deliveries of what changed, as many as may be pending. */
  private async takeInChanges({ webhook, owner, cursor }: LeasedWebhook): Promise<void> {
    const { db, clock } = this.options;
    const lease = { webhook: webhook.id, owner, now: clock() };
    const pending = await pendingDeliveries(db, webhook.id);
    let isIdle = dueChains(pending, lease.now, false).length === 0;
    let from = cursor;
    let room = MAX_PENDING - pending.length;
    for (let pages = 0; room > 0 && pages < MAX_SKIPPED_PAGES; pages++) {
      const kept = await this.readOn(webhook.party, from, room, isIdle);
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
      isIdle &&= wanted.length === 0;
    }
  }

  /** Where there is nothing else to do, it waits a little for what cannot be read yet. */
  private async readOn(
    party: string,
    from: Position,
    room: number,
    isIdle: boolean,
  ): Promise<ChangePage | undefined> {
    for (let wait = HORIZON_MS; ; wait *= 2) {
      const page = await readChanges(this.options.db, party, from, room);
      if (page === undefined || page.changes.length > 0 || page.ahead === undefined) return page;
      if (!isIdle || wait > MAX_HORIZON_MS || this.stopping.signal.aborted) return page;
      await sleep(wait);
    }
  }

  /** Each chain in order, several at a time. An endpoint at which nothing works gets no more than the first of them. */
  private async sendAll(leased: LeasedWebhook, chains: NumberedDelivery[][]): Promise<SettledHere[]> {
    const until = performance.now() + ROUND_MS;
    const settled: SettledHere[] = [];
    const isOver = () =>
      this.stopping.signal.aborted ||
      performance.now() > until ||
      (settled.length > 0 && settled.every(({ state }) => state !== 'DELIVERED'));
    const traceparents =
      telemetry === undefined ? undefined : await traceparentsOf(this.options.db, namesOf(chains));
    const queue = chains.values();
    const work = async () => {
      for (const chain of queue) {
        for (const one of chain) {
          if (isOver()) return;
          const outcome = await this.sendInTurn(
            () => this.trace(leased, one, traceparents?.get(one.delivery.event.name)),
            until,
          );
          if (outcome === undefined) return;
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

  /** Waits while the address got enough for now; undefined where the round is over before there is room. */
  private async sendInTurn(attempt: () => Promise<Outcome>, until: number): Promise<Outcome | undefined> {
    for (;;) {
      const outcome = await attempt();
      if (outcome.waitMs === undefined) return outcome;
      // A wait for nothing ends the round as well: the next one begins no sooner.
      const waitMs = Math.min(outcome.waitMs, Math.max(0, until - performance.now()));
      await sleep(waitMs, undefined, { signal: this.stopping.signal }).catch(() => {});
      if (waitMs < outcome.waitMs || this.stopping.signal.aborted) return undefined;
    }
  }

  /** In the trace of the measurement, where there is one; Node's http sends its header. */
  private async trace(
    leased: LeasedWebhook,
    one: NumberedDelivery,
    traceparent: string | undefined,
  ): Promise<Outcome> {
    if (telemetry === undefined) return this.send(leased, one);
    const { party, id } = leased.webhook;
    const attributes = { 'mex.party': party, 'mex.webhook': webhookName(party, id) };
    const span = telemetry.open({ name: 'deliver webhook', kind: 'client', attributes, traceparent });
    const outcome = await span.run(() => this.send(leased, one));
    const { status } = outcome;
    const failure = isSuccess(outcome) ? undefined : { code: status ?? 'no_response' };
    span.end({ attributes: { 'http.response.status_code': status }, failure });
    return outcome;
  }

  private send(
    { webhook, secret, oldSecret }: LeasedWebhook,
    { delivery }: NumberedDelivery,
  ): Promise<Outcome> {
    const { clock, secrets, destinations } = this.options;
    const payload = payloadOf(delivery.event);
    const keys = [secret, ...(oldSecret === null ? [] : [oldSecret])].map((sealed) =>
      secrets.open(webhook.id, sealed),
    );
    const at = Math.floor(Date.parse(clock()) / 1000);
    const headers = signedHeaders(messageId(webhook.id, delivery.event), at, payload, keys);
    return send(
      { party: webhook.party, url: webhook.url, headers, payload },
      destinations,
      this.stopping.signal,
    );
  }

  private settled({ delivery, number }: NumberedDelivery, outcome: Outcome): SettledHere {
    const { status, error, retryAfter, milliseconds } = outcome;
    const time = this.options.clock();
    const isDelivered = isSuccess(outcome);
    // A test is for somebody who looks at its outcome.
    const state = isDelivered ? 'DELIVERED' : delivery.event.kind === 'TEST' ? 'FAILED' : 'PENDING';
    const nextAttemptTime =
      state === 'PENDING' ? afterFailures(delivery.attempts + 1, time, { retryAfter }) : undefined;
    this.observer?.delivery(
      isDelivered ? 'delivered' : status === undefined ? 'unreachable' : 'rejected',
      (Date.parse(time) - Date.parse(delivery.event.time)) / 1000,
    );
    return {
      number,
      resource: delivery.event.name,
      state,
      time,
      nextAttemptTime,
      status,
      error,
      retryAfter,
      milliseconds,
    };
  }
}

function isSuccess({ status }: Outcome): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

function namesOf(chains: NumberedDelivery[][]): string[] {
  return chains.map(([first]) => first!.delivery.event.name);
}

/** With what the endpoint asked for. */
type SettledHere = Settled & Pick<Outcome, 'retryAfter'>;

/** When to try again: later after each failure, and not before the endpoint asks for it. */
function afterFailures(
  failures: number,
  now: Timestamp,
  ...responses: Pick<Outcome, 'retryAfter'>[]
): Timestamp {
  const asked = responses.map(({ retryAfter }) => retryAfterSeconds(retryAfter, now));
  return later(now, 1000 * Math.max(retrySeconds(failures, random()), ...asked));
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
