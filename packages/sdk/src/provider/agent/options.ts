import type { TrustStore } from '@measurement-exchange/consent';
import type { RandomSource } from '@measurement-exchange/mpc';
import type { Clock } from '../../client/clock.ts';
import type { ExchangeClient } from '../../client/index.ts';
import type { Credentials } from '../../identity/credentials.ts';
import type { Methodology } from '../compute.ts';
import type { Events } from '../events.ts';
import type { AgentStatus } from '../ledger/agentStatus.ts';
import type { Ledger } from '../ledger.ts';
import type { LiquidLegionsSettings, ShareShuffleSettings } from '../verify/duchySettings.ts';
import type { References } from '../verify/selection.ts';
import type { EncryptionKeys } from '../verify.ts';
import type { AgentEvent } from './logEvents.ts';

/** Options for `createAgent`. */
export interface AgentOptions extends Omit<Methodology, 'events'> {
  client: ExchangeClient;
  credentials: Credentials;
  /** Former encryption keys that earlier measurements still use. */
  earlierKeys?: EncryptionKeys[];
  /** The root certificates of the consumers whose requisitions are accepted. */
  trust: TrustStore;
  /** The events, or a function that opens the events before each use. Population measurements need no events. */
  events?: Events | (() => Promise<Events>);
  /**
   * The settings for each event group reference, such as the consumers that are allowed to ask about its events. A
   * reference is the value that selects an event group's events in the provider's data. Use `unchecked` only in
   * development, because the exchange then decides which consumers are allowed to ask.
   */
  references: References | 'unchecked';
  /**
   * Event group references that the provider's data contains, in addition to those that are declared in `references` or
   * that the operator confirmed in the ledger.
   */
  served?: ReadonlySet<string>;
  /** Requisitions with a smaller epsilon are refused. Default: 0.0001. */
  minimumEpsilon?: number;
  /**
   * The number of hours that the agent waits for late events after an interval ends. Default: 168 (a week). After that,
   * the requisition is answered with the events recorded so far, even if the event group's data availability interval
   * ends earlier than the requested interval.
   */
  graceHours?: number;
  /**
   * The settings for the protocols with duchies. The agent announces the configured protocols to the exchange. By
   * default, the provider offers only results that it computes itself.
   */
  shareShuffle?: ShareShuffleSettings;
  liquidLegions?: LiquidLegionsSettings;
  ledger: Ledger;
  /** The maximum number of requisitions processed at the same time. Default: 2. */
  concurrency?: number;
  /** The polling interval while the change stream is unavailable. Default: 2000 ms. */
  pollMs?: number;
  random?: RandomSource;
  clock?: Clock;
  /** Runs `work` in a span that continues the measurement's trace. `work` handles one requisition. */
  trace?: (span: RequisitionSpan, work: () => Promise<void>) => Promise<void>;
  log?: (event: AgentEvent) => void;
}

/** The trace span for the work on one requisition. */
export interface RequisitionSpan {
  name: string;
  attributes: Record<string, string>;
  /** The measurement's trace context, or undefined if the exchange does not trace the measurement. */
  traceparent: string | undefined;
}

/** Fulfills or refuses a data provider's requisitions. */
export interface Agent {
  /**
   * Tries each open requisition once. `handled` counts the requisitions that were fulfilled or refused, or that were
   * already closed. `failed` counts the attempts that failed.
   */
  once(signal?: AbortSignal): Promise<{ handled: number; failed: number }>;
  /** Follows changes until the signal is aborted, then waits for the attempts in progress to finish. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Returns the agent's current status. The agent also stores the status in the ledger, so that another process can
   * read it. `run` stores it at most every 5 seconds. Both `once` and `run` store it when they end.
   */
  status(): AgentStatus;
}
