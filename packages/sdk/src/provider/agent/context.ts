/** Creates the state that the modules of an agent share. */
import type { EventGroup, Requisition } from '@measurement-exchange/contract';
import { systemClock } from '../../client/clock.ts';
import { WATCHED_POLL_MS } from '../../client/follow.ts';
import { partyOf } from '../../client/names.ts';
import { Participant } from '../multiParty/participant.ts';
import { type Cached, cached } from './cached.ts';
import { Monitor } from './monitor.ts';
import type { AgentOptions } from './options.ts';
import { createIsServed } from './served.ts';

/** The default polling interval while the change stream is unavailable. */
const POLL_MS = 2000;
/** How long an event group is cached. If the agent missed a change, the change takes effect within this time. */
const EVENT_GROUP_CACHE_MS = 60_000;

export interface AgentContext extends AgentOptions {
  clock: NonNullable<AgentOptions['clock']>;
  log: NonNullable<AgentOptions['log']>;
  pollMs: number;
  eventGroups: Cached<EventGroup>;
  isServed(reference: string): boolean;
  monitor: Monitor;
  /** Handles the protocols with duchies. Undefined if no such protocol is configured. */
  participant: Participant | undefined;
}

export function createContext(options: AgentOptions): AgentContext {
  const { client, credentials, ledger, shareShuffle, liquidLegions } = options;
  const { clock = systemClock, log = () => {}, pollMs = POLL_MS } = options;
  const fetchEventGroup = (name: string) => client.getEventGroup({ name }) as Promise<EventGroup>;
  const monitor = new Monitor(clock, Math.max(pollMs, WATCHED_POLL_MS));
  const uploading = { client, clock, name: credentials.name, rejections: ledger.rejections };
  return {
    ...options,
    clock,
    pollMs,
    monitor,
    log(event) {
      monitor.observe(event);
      log(event);
    },
    eventGroups: cached(fetchEventGroup, EVENT_GROUP_CACHE_MS, clock),
    isServed: createIsServed(options, (name) => ledger.isConfirmed(name)),
    participant:
      shareShuffle || liquidLegions ? new Participant({ shareShuffle, liquidLegions }, uploading) : undefined,
  };
}

export function consumerOf({ measurement = '' }: Pick<Requisition, 'measurement'>): string {
  return partyOf(measurement);
}
