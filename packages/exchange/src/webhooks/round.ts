/** One round of a webhook: creates deliveries for new changes, sends the due deliveries, and stores their outcomes. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Timestamp, timestampOf } from '@measurement-exchange/contract';
import type { Secrets } from '@measurement-exchange/server';
import { telemetry } from '@measurement-exchange/server/telemetry';
import type { ChangePage, Position } from '../database/changes.ts';
import type { Database } from '../database/db.ts';
import {
  enqueueDeliveries,
  type NumberedDelivery,
  pendingDeliveries,
  type Settled,
  settle,
  traceparentsOf,
} from '../database/webhookDeliveries.ts';
import { type LeasedWebhook, MAX_PENDING } from '../database/webhooks.ts';
import {
  endRound,
  messageId,
  payloadOf,
  retryAfterSeconds,
  retrySeconds,
  signedHeaders,
  webhookName,
} from '../domain/webhook.ts';
import type { Feed } from '../feed/feed.ts';
import type { Destinations } from './destinations.ts';
import { type Outcome, send } from './send.ts';

/** A round that has sent deliveries for this long starts no more deliveries. */
export const ROUND_MS = 5_000;
/** The maximum number of connections to one endpoint. Each connection sends deliveries of a different resource. */
const MAX_CONNECTIONS = 8;
/**
 * A round that has nothing to send waits at most this long for changes that are committed but cannot be read yet. The
 * change feed does not return a change while an older transaction is running, because that transaction could still add
 * earlier changes.
 */
const UNREADABLE_MS = 500;
const MAX_SKIPPED_PAGES = 10;

export interface DeliveryObserver {
  delivery(outcome: 'delivered' | 'rejected' | 'unreachable', seconds: number): void;
}

export interface RoundOptions {
  db: Database;
  feed: Pick<Feed, 'read' | 'waitReadable'>;
  clock: () => Timestamp;
  secrets: Secrets;
  destinations: Destinations;
  observer?: DeliveryObserver | undefined;
}

type SettledHere = Settled & Pick<Outcome, 'retryAfter'>;

export class Round {
  private readonly options: RoundOptions;
  private readonly leased: LeasedWebhook;
  private readonly stopping: AbortSignal;
  private readonly settled: SettledHere[] = [];
  /** The time after which the round starts no more deliveries, in milliseconds of `performance.now()`. */
  private until = 0;

  constructor(options: RoundOptions, leased: LeasedWebhook, stopping: AbortSignal) {
    this.options = options;
    this.leased = leased;
    this.stopping = stopping;
  }

  async run(): Promise<void> {
    const { db, clock } = this.options;
    const { webhook, owner, failures } = this.leased;
    if (webhook.state === 'ACTIVE') await this.enqueueChanges();
    const pending = await pendingDeliveries(db, webhook.id);
    await this.sendAll(dueChains(pending, clock(), webhook.state === 'PAUSED'));
    const { settled } = this;
    const now = clock();
    const failing = pending.filter(({ number }) =>
      settled.some((s) => s.number === number && s.state === 'PENDING'),
    );
    const failingSince = failing.map((f) => f.delivery.firstFailureTime ?? now);
    const end = endRound({ failures, settled, failingSince }, now);
    const nextAttemptTime = end.isDead ? afterFailures(end.failures, now, ...settled) : now;
    await db.tx('settleWebhook', async (tx) =>
      settle(tx, { webhook: webhook.id, owner }, settled, { ...end, nextAttemptTime }),
    );
  }

  private async enqueueChanges(): Promise<void> {
    const { db, feed, clock } = this.options;
    const { webhook, owner, cursor } = this.leased;
    const lease = { webhook: webhook.id, owner, now: clock() };
    const pending = await pendingDeliveries(db, webhook.id);
    let isIdle = dueChains(pending, lease.now, false).length === 0;
    let from = cursor;
    let room = MAX_PENDING - pending.length;
    for (let pages = 0; room > 0 && pages < MAX_SKIPPED_PAGES; pages++) {
      const kept = await this.read(from, room, isIdle);
      const page = kept ?? (await feed.read(webhook.party, 'OLDEST', room))!;
      const wanted = page.changes.filter(
        ({ change }) => webhook.kinds.length === 0 || webhook.kinds.includes(change.kind),
      );
      const isMoved = page.changes.length > 0 || kept === undefined;
      const skipped = kept === undefined ? lease.now : undefined;
      if (!isMoved || !(await enqueueDeliveries(db, lease, from, page.next, wanted, skipped))) return;
      if (page.changes.length < room) return;
      from = page.next;
      room -= wanted.length;
      isIdle &&= wanted.length === 0;
    }
  }

  /** Reads a page of changes. An idle round waits up to UNREADABLE_MS for changes that cannot be read yet. */
  private async read(from: Position, room: number, isIdle: boolean): Promise<ChangePage | undefined> {
    const { feed } = this.options;
    const { party } = this.leased.webhook;
    const page = await feed.read(party, from, room);
    if (!isIdle || page?.ahead === undefined || page.changes.length > 0) return page;
    await feed.waitReadable(page.ahead, UNREADABLE_MS);
    return feed.read(party, from, room);
  }

  /**
   * Sends chains of deliveries. A chain contains one resource's deliveries, which are sent in order. Several chains are
   * sent at the same time.
   */
  private async sendAll(chains: NumberedDelivery[][]): Promise<void> {
    this.until = performance.now() + ROUND_MS;
    const names = chains.map(([first]) => first!.delivery.event.name);
    const traceparentOf = telemetry && (await traceparentsOf(this.options.db, names));
    const queue = chains.values();
    const sendChains = async () => {
      for (const chain of queue) if (!(await this.sendChain(chain, traceparentOf))) return;
    };
    await Promise.all(Array.from({ length: MAX_CONNECTIONS }, sendChains));
  }

  /** Sends one resource's deliveries, up to the first one that must be retried. Returns false if the round is over. */
  private async sendChain(
    chain: NumberedDelivery[],
    traceparentOf: ((name: string) => string | undefined) | undefined,
  ): Promise<boolean> {
    for (const one of chain) {
      if (this.isOver()) return false;
      const traceparent = traceparentOf?.(one.delivery.event.name);
      const outcome = await this.sendInTurn(() => this.trace(one, traceparent));
      if (outcome === undefined) return false;
      if (this.stopping.aborted && outcome.status === undefined) return false;
      const result = this.settledAs(one, outcome);
      this.settled.push(result);
      if (result.state === 'PENDING') break;
    }
    return true;
  }

  /**
   * Returns whether the round must end, because the exchange stops, the time is up, or all attempts so far have failed.
   */
  private isOver(): boolean {
    const { settled, until } = this;
    return (
      this.stopping.aborted ||
      performance.now() > until ||
      (settled.length > 0 && settled.every(({ state }) => state !== 'DELIVERED'))
    );
  }

  /** Sends a delivery, after waiting for the rate limit if necessary. Returns undefined if the round ends first. */
  private async sendInTurn(attempt: () => Promise<Outcome>): Promise<Outcome | undefined> {
    for (;;) {
      const outcome = await attempt();
      if (outcome.waitMs === undefined) return outcome;
      // Wait here, but at most until this round ends. If the round ended without waiting, the next round would start at
      // once and reach the rate limit again.
      const waitMs = Math.min(outcome.waitMs, Math.max(0, this.until - performance.now()));
      await sleep(waitMs, undefined, { signal: this.stopping }).catch(() => {});
      if (waitMs < outcome.waitMs || this.stopping.aborted) return undefined;
    }
  }

  /**
   * Sends the delivery as part of the measurement's trace, if the measurement was traced. Telemetry adds the trace
   * header to the request.
   */
  private async trace(one: NumberedDelivery, traceparent: string | undefined): Promise<Outcome> {
    if (telemetry === undefined) return this.send(one);
    const { party, id } = this.leased.webhook;
    const attributes = { 'mex.party': party, 'mex.webhook': webhookName(party, id) };
    const span = telemetry.open({ name: 'deliver webhook', kind: 'client', attributes, traceparent });
    const outcome = await span.run(() => this.send(one));
    const { status } = outcome;
    const failure = isSuccess(outcome) ? undefined : { code: status ?? 'no_response' };
    span.end({ attributes: { 'http.response.status_code': status }, failure });
    return outcome;
  }

  private send({ delivery }: NumberedDelivery): Promise<Outcome> {
    const { clock, secrets, destinations } = this.options;
    const { webhook, secret, oldSecret } = this.leased;
    const payload = payloadOf(delivery.event);
    const keys = [secret, ...(oldSecret === null ? [] : [oldSecret])].map((sealed) =>
      secrets.open(webhook.id, sealed),
    );
    const at = Math.floor(Date.parse(clock()) / 1000);
    const headers = signedHeaders(messageId(webhook.id, delivery.event), at, payload, keys);
    return send({ party: webhook.party, url: webhook.url, headers, payload }, destinations, this.stopping);
  }

  private settledAs({ delivery, number }: NumberedDelivery, outcome: Outcome): SettledHere {
    const { status, error, retryAfter, milliseconds } = outcome;
    const time = this.options.clock();
    const isDelivered = isSuccess(outcome);
    // Do not retry a test, because the webhook's owner is waiting for its outcome.
    const state = isDelivered ? 'DELIVERED' : delivery.event.kind === 'TEST' ? 'FAILED' : 'PENDING';
    const nextAttemptTime =
      state === 'PENDING' ? afterFailures(delivery.attempts + 1, time, { retryAfter }) : undefined;
    this.options.observer?.delivery(
      isDelivered ? 'delivered' : status === undefined ? 'unreachable' : 'rejected',
      (Date.parse(time) - Date.parse(delivery.event.time)) / 1000,
    );
    const resource = delivery.event.name;
    return { number, resource, state, time, nextAttemptTime, status, error, retryAfter, milliseconds };
  }
}

function isSuccess({ status }: Outcome): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/**
 * Returns the time of the next attempt. The wait grows with each failure, up to a maximum. If an endpoint's
 * `Retry-After` asks for a longer wait, the wait is as long as requested, but not longer than the maximum.
 */
function afterFailures(
  failures: number,
  now: Timestamp,
  ...responses: Pick<Outcome, 'retryAfter'>[]
): Timestamp {
  const asked = responses.map(({ retryAfter }) => retryAfterSeconds(retryAfter, now));
  const random = () => randomInt(2 ** 32) / 2 ** 32;
  return timestampOf(Date.parse(now) + 1000 * Math.max(retrySeconds(failures, random()), ...asked));
}

/**
 * Groups pending deliveries by resource and keeps their order. Omits resources whose first delivery is not due yet.
 * If the webhook is paused, returns only tests.
 */
function dueChains(pending: NumberedDelivery[], now: Timestamp, isPaused: boolean): NumberedDelivery[][] {
  const wanted = isPaused ? pending.filter(({ delivery }) => delivery.event.kind === 'TEST') : pending;
  const chains = Map.groupBy(wanted, ({ delivery }) => delivery.event.name);
  return [...chains.values()].filter(([first]) => first!.delivery.nextAttemptTime! <= now);
}
