/**
 * Delivers changes to webhooks in the background. A process leases each webhook for one round, so several processes
 * can share the work. A slow endpoint delays only its own webhook.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { claimWebhooks, type LeasedWebhook, partiesWithWebhooks } from '../database/webhooks.ts';
import { ROUND_MS, Round, type RoundOptions } from './round.ts';
import { SEND_MS } from './send.ts';

/**
 * The maximum numbers of running rounds, in total and per party. These limits keep slow endpoints from delaying other
 * webhooks.
 */
const MAX_WORKING = 64;
const MAX_WORKING_OF_PARTY = 4;
/** The lease is longer than any round, so that it expires only if the round has failed or its process has died. */
const LEASE_MS = ROUND_MS + SEND_MS + 15_000;
/** The minimum time between two queries that claim webhooks of changed parties. */
const CLAIM_EVERY_MS = 20;

export class Deliverer {
  private readonly options: RoundOptions;
  private readonly working = new Map<Promise<void>, string>();
  /** Parties that had webhooks at the last call of `run`. */
  private parties = new Set<string>();
  /** Parties whose webhooks may have new deliveries. These webhooks are claimed next. */
  private readonly changedParties = new Set<string>();
  private running: Promise<void> | undefined;
  private claiming: Promise<void> | undefined;
  private lastClaim: Promise<void> = Promise.resolve();
  private claimedAt = 0;
  private readonly stopping = new AbortController();
  private failure: unknown;

  constructor(options: RoundOptions) {
    this.options = options;
  }

  /**
   * Starts due deliveries, including retries and deliveries of changes that were not announced with `changed`. Throws
   * if a round or a claim has failed since the last call.
   */
  async run(): Promise<boolean> {
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
    this.parties = new Set(await partiesWithWebhooks(this.options.db));
    if (this.parties.size === 0) return false;
    this.running = this.claim(undefined);
    await this.running;
    return false;
  }

  /** Starts deliveries to these parties soon, without waiting for the next call of `run`. */
  changed(parties: Iterable<string>): void {
    for (const party of parties) if (this.parties.has(party)) this.changedParties.add(party);
    if (this.changedParties.size === 0 || this.stopping.signal.aborted) return;
    this.claiming ??= this.claimChanged();
  }

  private async claimChanged(): Promise<void> {
    while (this.changedParties.size > 0 && !this.stopping.signal.aborted) {
      const wait = Math.max(0, this.claimedAt + CLAIM_EVERY_MS - performance.now());
      await sleep(wait, undefined, { signal: this.stopping.signal }).catch(() => {});
      const parties = [...this.changedParties];
      this.changedParties.clear();
      this.claimedAt = performance.now();
      await this.claim(parties).catch((error) => {
        this.failure = error;
      });
    }
    this.claiming = undefined;
  }

  /** Runs one claim at a time, because each claim must know the rounds that the earlier claims have started. */
  private claim(only: string[] | undefined): Promise<void> {
    const claim = this.lastClaim.then(() => this.claimFree(only));
    this.lastClaim = claim.catch(() => {});
    return claim;
  }

  private async claimFree(only: string[] | undefined): Promise<void> {
    const { db, clock } = this.options;
    for (let more = true; more && this.working.size < MAX_WORKING && !this.stopping.signal.aborted; ) {
      const { busy, most } = this.load(only);
      // All claimed webhooks may belong to one party, which may already have `most` rounds (see `load`). The limit is
      // therefore at most the number of rounds that this party may still start.
      const limit = Math.min(MAX_WORKING - this.working.size, MAX_WORKING_OF_PARTY - most);
      const claimed = await claimWebhooks(db, clock(), LEASE_MS, limit, { except: busy, only });
      for (const leased of claimed) this.start(leased);
      more = claimed.length === limit;
    }
  }

  /** Aborts the running requests. The next process that leases a webhook sends the aborted deliveries again. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.allSettled([this.running, this.claiming]);
    await Promise.allSettled(this.working.keys());
  }

  /**
   * Returns the parties that have reached their limit of rounds (`busy`), and the largest number of rounds of any other
   * party (`most`). If `only` is set, looks only at these parties.
   */
  private load(only: string[] | undefined): { busy: string[]; most: number } {
    const counts = new Map<string, number>();
    for (const party of this.working.values()) {
      if (only === undefined || only.includes(party)) counts.set(party, (counts.get(party) ?? 0) + 1);
    }
    const busy = [...counts].filter(([, count]) => count >= MAX_WORKING_OF_PARTY).map(([party]) => party);
    for (const party of busy) counts.delete(party);
    return { busy, most: Math.max(0, ...counts.values()) };
  }

  private start(leased: LeasedWebhook): void {
    const { party } = leased.webhook;
    // If this round fails, another round sends its deliveries after the lease expires.
    const round = new Round(this.options, leased, this.stopping.signal)
      .run()
      .catch((error) => {
        this.failure = error;
      })
      .finally(() => {
        const wasFull = this.working.size >= MAX_WORKING;
        this.working.delete(round);
        // Look for more work: this webhook may have more deliveries, and if the number of rounds was at its limit,
        // other webhooks may be waiting too.
        this.changed(wasFull ? this.parties : [party]);
      });
    this.working.set(round, party);
  }
}
