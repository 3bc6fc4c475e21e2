/** The options and the interface of an agent. */
import type { TrustStore } from '@measurement-exchange/consent';
import type { RandomSource } from '@measurement-exchange/mpc';
import type { Clock } from '../../client/clock.ts';
import type { ExchangeClient } from '../../client/index.ts';
import type { Credentials } from '../../identity/credentials.ts';
import type { Methodology } from '../compute.ts';
import type { Events } from '../events.ts';
import type { Ledger } from '../ledger.ts';
import type { LiquidLegionsSettings, ShareShuffleSettings } from '../verify/duchySettings.ts';
import type { References } from '../verify/selection.ts';
import type { EncryptionKeys } from '../verify.ts';
import type { AgentEvent } from './logEvents.ts';

/** The provider's identity, data and privacy budget, and how the agent works. */
export interface AgentOptions extends Omit<Methodology, 'events'> {
  client: ExchangeClient;
  credentials: Credentials;
  /** Former encryption keys, which measurements created earlier still use. */
  earlierKeys?: EncryptionKeys[];
  /** The root certificates of the consumers whose requisitions are accepted. */
  trust: TrustStore;
  /** The events, or a function that opens them, called before each use. Population measurements need none. */
  events?: Events | (() => Promise<Events>);
  /** The consumers that may ask about each reference. `unchecked` in development only: it believes the exchange. */
  references: References | 'unchecked';
  /** References that the events have, besides those that are declared in `references` or confirmed in the ledger. */
  served?: ReadonlySet<string>;
  /** The smallest epsilon of a figure that is answered; 0.0001 by default. */
  minimumEpsilon?: number;
  /**
   * How long after the end of an interval events may still be recorded, in hours; a week by default. Then the question is
   * answered with what is recorded, whatever the event group says.
   */
  graceHours?: number;
  /** The accepted computations by duchies; without either, direct results only. The agent tells the exchange which. */
  shareShuffle?: ShareShuffleSettings;
  liquidLegions?: LiquidLegionsSettings;
  ledger: Ledger;
  /** How many requisitions are processed concurrently; 2 by default. */
  concurrency?: number;
  /** The interval between two polls for requisitions while changes cannot be followed; 2 s by default. */
  pollMs?: number;
  random?: RandomSource;
  clock?: Clock;
  /** Runs the work on one requisition, in a span that continues the trace of its measurement. */
  trace?: (span: RequisitionSpan, work: () => Promise<void>) => Promise<void>;
  log?: (event: AgentEvent) => void;
}

/** The trace span of the work on a requisition. */
export interface RequisitionSpan {
  name: string;
  attributes: Record<string, string>;
  /** The trace of the measurement, where the exchange traces it. */
  traceparent: string | undefined;
}

/** Fulfills or refuses the requisitions of a data provider. */
export interface Agent {
  /** Polls once, tries each open requisition once, and counts those that are closed now and those that failed. */
  once(signal?: AbortSignal): Promise<{ handled: number; failed: number }>;
  /** Follows what changes until the signal is aborted, then waits for the requisitions in progress. */
  run(signal: AbortSignal): Promise<void>;
}
