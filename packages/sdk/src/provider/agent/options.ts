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

/** Options of `createAgent`. */
export interface AgentOptions extends Omit<Methodology, 'events'> {
  client: ExchangeClient;
  credentials: Credentials;
  /** Former encryption keys, which earlier measurements still use. */
  earlierKeys?: EncryptionKeys[];
  /** The root certificates of the consumers whose requisitions are accepted. */
  trust: TrustStore;
  /** The events, or a function that opens the events before each use. Population measurements need no events. */
  events?: Events | (() => Promise<Events>);
  /** The consumers that may ask about each reference. Use `unchecked` in development only: it trusts the exchange. */
  references: References | 'unchecked';
  /** Further references that the events contain; others are declared in `references` or confirmed in the ledger. */
  served?: ReadonlySet<string>;
  /** A requisition with a smaller epsilon is refused; 0.0001 by default. */
  minimumEpsilon?: number;
  /**
   * The time for which events may still be recorded after the end of an interval; a week by default. After that the
   * requisition is answered with the events that are recorded, whatever the event group says.
   */
  graceHours?: number;
  /** The accepted computations by duchies, which the agent announces to the exchange; default: direct results only. */
  shareShuffle?: ShareShuffleSettings;
  liquidLegions?: LiquidLegionsSettings;
  ledger: Ledger;
  /** The number of requisitions that are processed concurrently; 2 by default. */
  concurrency?: number;
  /** The interval between two polls while changes cannot be followed; 2 s by default. */
  pollMs?: number;
  random?: RandomSource;
  clock?: Clock;
  /** Runs the work on one requisition in a span that continues the trace of its measurement. */
  trace?: (span: RequisitionSpan, work: () => Promise<void>) => Promise<void>;
  log?: (event: AgentEvent) => void;
}

/** The trace span of the work on a requisition. */
export interface RequisitionSpan {
  name: string;
  attributes: Record<string, string>;
  /** The trace of the measurement; undefined if the exchange does not trace it. */
  traceparent: string | undefined;
}

/** Fulfills or refuses the requisitions of a data provider. */
export interface Agent {
  /** Attempts each open requisition once. Resolves to the numbers of requisitions that were closed, and that failed. */
  once(signal?: AbortSignal): Promise<{ handled: number; failed: number }>;
  /** Follows changes until the signal is aborted, then waits for the requisitions in progress. */
  run(signal: AbortSignal): Promise<void>;
}
