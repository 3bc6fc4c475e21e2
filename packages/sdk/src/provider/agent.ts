/** A data provider's agent fulfills or refuses each of the provider's requisitions exactly once, even after a crash. */
import { type Change, timestampOf } from '@measurement-exchange/contract';
import { messageOf } from '../client/errors.ts';
import { type Follower, followChanges, type Wake } from '../client/index.ts';
import { Attempts, type Due, isGone } from './agent/attempts.ts';
import { type AgentContext, createContext } from './agent/context.ts';
import type { Agent, AgentOptions } from './agent/options.ts';
import { retryAfterMs, retryBackoffMs } from './agent/retries.ts';
import type { AgentStatus } from './ledger/agentStatus.ts';
import { announceProtocols } from './multiParty/capabilities.ts';

/** The minimum time between two writes of the status to the ledger. Each write waits for the disk. */
const STORE_STATUS_MS = 5000;

/** Creates an agent that acts as `credentials.name`, computes from the given events, and charges the given ledger. */
export function createAgent(options: AgentOptions): Agent {
  return new ProviderAgent(options);
}

/** Finds open requisitions by following changes and by polling, and tries to answer each requisition that is due. */
class ProviderAgent implements Agent {
  private readonly context: AgentContext;
  private readonly attempts: Attempts;
  private hasAnnounced = false;
  private statusStoredAt = Number.NEGATIVE_INFINITY;
  /** Undefined until `run` is called. */
  private follower: Follower | undefined;

  constructor(options: AgentOptions) {
    this.context = createContext(options);
    this.attempts = new Attempts(this.context, (ms) => this.follower?.pollIn(ms));
  }

  async once(signal?: AbortSignal): Promise<{ handled: number; failed: number }> {
    const { attempts } = this;
    const { running, counts } = attempts;
    const before = { ...counts };
    const tried = new Set<string>();
    const due: Due = { isDue: (name) => !tried.has(name), onStart: (name) => tried.add(name) };
    try {
      await this.poll(due, signal);
      while (running.size > 0 || attempts.hasRoom) {
        // A poll skips the requisitions of a consumer that has too many requisitions in memory. Poll again when such a
        // consumer has room for more.
        if (attempts.hasRoom) await this.poll(due, signal);
        else await Promise.race(running.values());
      }
    } finally {
      await Promise.all(running.values());
      this.storeEnd();
    }
    return { handled: counts.handled - before.handled, failed: counts.failed - before.failed };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, credentials, clock, log, pollMs } = this.context;
    const follower = followChanges(client, {
      parent: credentials.name,
      kinds: ['REQUISITION', 'EVENT_GROUP'],
      signal,
      clock,
      onPolling: (why) => log({ type: 'polling', why }),
      onFollowing: () => log({ type: 'following' }),
    });
    this.follower = follower;
    for (let failed = 0; !signal.aborted; ) {
      try {
        await this.act(await follower.next(pollMs), signal);
        if (failed > 0) log({ type: 'reachable' });
        failed = 0;
      } catch (error) {
        if (signal.aborted) break;
        if (failed === 0) log({ type: 'unreachable', why: messageOf(error) });
        failed++;
        const waitMs = Math.max(pollMs, retryBackoffMs(failed), retryAfterMs(error));
        await clock.sleep(waitMs, signal).catch(() => {});
        follower.pollIn(0);
      }
      this.attempts.armRetries();
      this.storeStatus(STORE_STATUS_MS);
    }
    follower.close();
    await Promise.all(this.attempts.running.values());
    this.storeEnd();
  }

  status(): AgentStatus {
    return this.context.monitor.status();
  }

  private storeStatus(afterMs: number): void {
    const { clock, ledger } = this.context;
    if (clock.now() - this.statusStoredAt < afterMs) return;
    this.statusStoredAt = clock.now();
    ledger.storeStatus(this.status());
  }

  private storeEnd(): void {
    const { clock, ledger } = this.context;
    ledger.storeStatus({ ...this.status(), endTime: timestampOf(clock.now()) });
  }

  private async act({ changes, poll }: Wake, signal: AbortSignal): Promise<void> {
    const changed = new Set(changes.filter(({ kind }) => kind === 'EVENT_GROUP').map(({ name }) => name));
    for (const name of changed) this.context.eventGroups.evict(name);
    await this.attempts.retries.release(poll ? undefined : changed);
    const due: Due = { isDue: (name) => this.attempts.retries.isDue(name) };
    if (poll) await this.poll(due, signal);
    else for (const change of changes) await this.startChanged(change, due, signal);
  }

  private async poll(due: Due, signal?: AbortSignal): Promise<void> {
    const { client, credentials, ledger, participant, monitor } = this.context;
    const seen = new Set<string>();
    this.attempts.beginPoll();
    if (!this.hasAnnounced) this.hasAnnounced = await this.announce(signal);
    const open = { parent: credentials.name, 'filter.states': ['UNFULFILLED' as const], signal };
    for await (const requisition of client.listRequisitions(open)) {
      if (!this.isOwn(requisition)) continue;
      seen.add(requisition.name!);
      this.attempts.start(requisition, due, signal);
    }
    this.attempts.keepOnly(seen);
    monitor.polled(new Set([...seen, ...this.attempts.running.keys()]));
    ledger.held.keepOnly(seen);
    await participant?.keepOnly([...seen, ...this.attempts.running.keys()]);
  }

  /**
   * Announces the multi-party protocols that the provider supports, and returns true. If the call fails for a provider
   * with such protocols, the method throws. If the call fails for a provider without such protocols, the method returns
   * false, because this provider can work anyway. The next poll then calls the method again.
   */
  private async announce(signal?: AbortSignal): Promise<boolean> {
    const { client, credentials, participant } = this.context;
    const supported = participant?.protocols ?? [];
    try {
      await announceProtocols(client, { name: credentials.name, signal }, supported);
      return true;
    } catch (error) {
      if (participant) throw error;
      return false;
    }
  }

  /**
   * Whether the requisition belongs to this provider. Another provider's requisition would be charged to the wrong
   * ledger.
   */
  private isOwn({ name = '' }: { name?: string }): boolean {
    return name.startsWith(`${this.context.credentials.name}/requisitions/`);
  }

  private async startChanged(change: Change, due: Due, signal: AbortSignal): Promise<void> {
    const { name, state } = change;
    if (!this.isOwn(change) || state !== 'UNFULFILLED' || !due.isDue(name)) return;
    const requisition = await this.context.client.getRequisition({ name, signal }).catch((error) => {
      if (!isGone(error)) throw error;
    });
    if (requisition?.state === 'UNFULFILLED' && requisition.name === name) {
      this.attempts.start(requisition, due, signal);
    }
  }
}
