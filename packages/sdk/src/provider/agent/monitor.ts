/** Tracks an agent's work, so that its operator can see it. */
import { type Requisition, timestampOf } from '@measurement-exchange/contract';
import type { Clock } from '../../client/clock.ts';
import {
  type AgentCounts,
  type AgentStatus,
  COUNTED,
  type Counted,
  type OpenRequisition,
  type Retry,
} from '../ledger/agentStatus.ts';
import type { AgentEvent } from './logEvents.ts';

const MAX_LISTED = 10;

/** A poll is overdue this long after the polling interval. The agent may be slow, or start late on a busy machine. */
const SLACK_MS = 60_000;

export class Monitor {
  private readonly clock: Clock;
  private readonly pollMs: number;
  private readonly startTime: string;
  private readonly counts = Object.fromEntries(COUNTED.map((type) => [type, 0])) as AgentCounts;
  /** The creation time of each open requisition. */
  private readonly open = new Map<string, string>();
  private readonly retries = new Map<string, Retry>();
  private pollTime: string | undefined;
  private unreachable: string | undefined;

  /** `pollMs` is the longest interval between two polls of the agent. */
  constructor(clock: Clock, pollMs: number) {
    this.clock = clock;
    this.pollMs = pollMs;
    this.startTime = timestampOf(clock.now());
  }

  observe(event: AgentEvent): void {
    const { type } = event;
    if (isCounted(type)) this.counts[type]++;
    if (type === 'unreachable') this.unreachable = event.why;
    if (type === 'reachable') this.unreachable = undefined;
    if (!('requisition' in event)) return;
    const { requisition } = event;
    if (type === 'retrying' || type === 'rejected') {
      const time = timestampOf(this.clock.now() + event.inMs);
      this.retries.set(requisition, { requisition, time, why: event.why });
    } else if (type === 'deferred' || type === 'held') {
      this.retries.set(requisition, { requisition, time: event.until, why: event.why });
    } else if (type === 'received' || type === 'resending') this.retries.delete(requisition);
    else if (type === 'fulfilled' || type === 'refused' || type === 'closed') this.forget(requisition);
  }

  sawOpen({ name = '', createTime }: Requisition): void {
    if (!this.open.has(name)) this.open.set(name, createTime ?? timestampOf(this.clock.now()));
  }

  polled(open: ReadonlySet<string>): void {
    for (const name of [...this.open.keys(), ...this.retries.keys()]) if (!open.has(name)) this.forget(name);
    this.pollTime = timestampOf(this.clock.now());
    this.unreachable = undefined;
  }

  status(): AgentStatus {
    const { startTime, pollTime, unreachable, counts, open, retries } = this;
    let oldestOpen: OpenRequisition | undefined;
    for (const [requisition, createTime] of open) {
      if (oldestOpen === undefined || createTime < oldestOpen.createTime)
        oldestOpen = { requisition, createTime };
    }
    const byTime = [...retries.values()].sort((a, b) => (a.time < b.time ? -1 : 1));
    return {
      startTime,
      ...(pollTime && {
        pollTime,
        overdueTime: timestampOf(Date.parse(pollTime) + this.pollMs + SLACK_MS),
      }),
      ...(unreachable && { unreachable }),
      counts: { ...counts },
      open: open.size,
      ...(oldestOpen && { oldestOpen }),
      waiting: retries.size,
      nextRetries: byTime.slice(0, MAX_LISTED),
    };
  }

  private forget(requisition: string): void {
    this.open.delete(requisition);
    this.retries.delete(requisition);
  }
}

const isCounted = (type: string): type is Counted => (COUNTED as readonly string[]).includes(type);
