/** The state that the parts of an agent share. */
import type { EventGroup, Requisition } from '@measurement-exchange/contract';
import { systemClock } from '../../client/clock.ts';
import { partyOf } from '../../client/names.ts';
import { Participant } from '../multiParty/participant.ts';
import { type Cached, cached } from './cached.ts';
import type { AgentOptions } from './options.ts';
import { createIsServed } from './served.ts';

/** A change to an event group that the agent is not told of takes effect here after at most a minute. */
const EVENT_GROUP_CACHE_MS = 60_000;

export interface AgentContext extends AgentOptions {
  clock: NonNullable<AgentOptions['clock']>;
  log: NonNullable<AgentOptions['log']>;
  eventGroups: Cached<EventGroup>;
  isServed(reference: string): boolean;
  /** Absent without settings for duchies. */
  participant: Participant | undefined;
}

export function createContext(options: AgentOptions): AgentContext {
  const { client, credentials, ledger, references, served, shareShuffle, liquidLegions } = options;
  const { clock = systemClock, log = () => {} } = options;
  const fetchEventGroup = (name: string) => client.getEventGroup({ name }) as Promise<EventGroup>;
  const uploading = { client, clock, name: credentials.name, rejections: ledger.rejections };
  return {
    ...options,
    clock,
    log,
    eventGroups: cached(fetchEventGroup, EVENT_GROUP_CACHE_MS, clock),
    isServed: createIsServed({ references, served, isConfirmed: (name) => ledger.isConfirmed(name) }),
    participant:
      shareShuffle || liquidLegions ? new Participant({ shareShuffle, liquidLegions }, uploading) : undefined,
  };
}

/** The consumer that asks: `measurementConsumers/…`. */
export function consumerOf({ measurement = '' }: Pick<Requisition, 'measurement'>): string {
  return partyOf(measurement);
}
