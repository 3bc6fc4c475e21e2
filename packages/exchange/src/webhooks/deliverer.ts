/**
 * Delivers changes to webhooks in the background. The deliverer leases a webhook for one round, so that any number of
 * exchanges share the work, and a slow endpoint delays only its own webhook.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { claimWebhooks, type LeasedWebhook, partiesWithWebhooks } from '../database/webhooks.ts';
import { ROUND_MS, Round, type RoundOptions } from './round.ts';
import { SEND_MS } from './send.ts';

/** The number of webhooks served at a time. */
const MAX_WORKING = 64;
/** The limits for one party and for one claim, so that slow endpoints do not block others. */
const MAX_WORKING_OF_PARTY = 4;
const MAX_CLAIMED = 4;
/** A lease lasts longer than any round, so that it expires only if its holder has ended. */
const LEASE_MS = ROUND_MS + SEND_MS + 15_000;
/** The pause between two claims for changed parties. */
const CLAIM_EVERY_MS = 20;

export class Deliverer {
  private readonly options: RoundOptions;
  /** The party of each running round. */
  private readonly working = new Map<Promise<void>, string>();
  /** The parties that had webhooks at the last run. */
  private parties = new Set<string>();
  /** The `parties` with new changes, whose webhooks are claimed next. */
  private readonly changedParties = new Set<string>();
  private running: Promise<void> | undefined;
  private claiming: Promise<void> | undefined;
  private claimedAt = 0;
  private readonly stopping = new AbortController();
  /** The failure of a round, thrown by the next run. */
  private failure: unknown;

  constructor(options: RoundOptions) {
    this.options = options;
  }

  /** Starts all due deliveries of all parties: retries, and changes whose notification was lost. */
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

  /** Starts the deliveries of parties that have new changes, within milliseconds. */
  changed(parties: Iterable<string>): void {
    for (const party of parties) if (this.parties.has(party)) this.changedParties.add(party);
    if (this.changedParties.size === 0 || this.stopping.signal.aborted) return;
    this.claiming ??= this.claimChanged();
  }

  /** Claims webhooks of changed parties, one claim at a time, until no party changed during the last claim. */
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

  private async claim(only: string[] | undefined): Promise<void> {
    const { db, clock } = this.options;
    for (let more = true; more && this.working.size < MAX_WORKING && !this.stopping.signal.aborted; ) {
      const parties = { except: this.busyParties(), only };
      const claimed = await claimWebhooks(db, clock(), LEASE_MS, MAX_CLAIMED, parties);
      for (const leased of claimed) this.start(leased);
      more = claimed.length === MAX_CLAIMED;
    }
  }

  /** Ends the requests in flight. The next holder of the lease sends deliveries without an outcome again. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.allSettled([this.running, this.claiming]);
    await Promise.allSettled(this.working.keys());
  }

  private busyParties(): string[] {
    const counts = new Map<string, number>();
    for (const party of this.working.values()) counts.set(party, (counts.get(party) ?? 0) + 1);
    return [...counts].filter(([, count]) => count >= MAX_WORKING_OF_PARTY).map(([party]) => party);
  }

  private start(leased: LeasedWebhook): void {
    const { party } = leased.webhook;
    // If the round fails, its deliveries are sent after the lease has expired.
    const round = new Round(this.options, leased, this.stopping.signal)
      .run()
      .catch((error) => {
        this.failure = error;
      })
      .finally(() => {
        const wasFull = this.working.size >= MAX_WORKING;
        this.working.delete(round);
        // The webhook may have more deliveries, and other webhooks may have waited because the deliverer was full.
        this.changed(wasFull ? this.parties : [party]);
      });
    this.working.set(round, party);
  }
}
