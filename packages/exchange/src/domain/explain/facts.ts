/** The facts that an explanation is based on. */
import {
  equalBytes,
  type PartyState,
  type SignedMessage,
  type Timestamp,
} from '@measurement-exchange/contract';
import {
  type AggregateOf,
  type MeasurementOutline,
  measurementName,
  type RequisitionContent,
  type RequisitionOutline,
  type Trigger,
} from '../aggregate.ts';
import type { Certificate } from '../certificate.ts';
import { keysetOf } from '../consent.ts';
import type { Deadlines, Report } from '../deadlines.ts';

/** The kind of caller. An explanation reveals only facts that the caller could also read elsewhere. */
export type Viewer = 'measurementConsumer' | 'dataProvider' | 'duchy';

/** The deadlines after which a pending measurement ends automatically. */
export interface PendingDeadlines extends Deadlines {
  /** After this many days, retention cancels a measurement that is still pending. */
  cancelPendingAfterDays: number | undefined;
}

export interface PartyFacts {
  name: string;
  state: PartyState;
  publicKey: SignedMessage | undefined;
  lastSeen: Timestamp | undefined;
}

/** A duchy's latest report, including its message. */
export interface WordedReport extends Report {
  message: string;
  time: Timestamp;
}

/** A requisition and the public key that it is encrypted for. */
export type RequisitionWithKey = RequisitionOutline & Pick<RequisitionContent, 'publicKey'>;
export type ExplainedAggregate = AggregateOf<MeasurementOutline, RequisitionWithKey>;

export interface Facts {
  viewer: Viewer;
  /** The measurement and its requisitions. If the viewer is a provider, only the provider's own requisition is included. */
  aggregate: ExplainedAggregate;
  /** The trigger of the measurement's last state transition. */
  cause: Trigger;
  parties: ReadonlyMap<string, PartyFacts>;
  /** The certificates that the measurement depends on, by name. */
  certificates: ReadonlyMap<string, Certificate>;
  reports: readonly WordedReport[];
  deadlines: PendingDeadlines;
  now: Timestamp;
}

/** A party counts as offline if it has not called for this long. Agents and duchies call every few seconds. */
const OFFLINE_AFTER_MS = 10 * 60_000;

export function isPresent({ parties, now }: Facts, party: string): boolean {
  const lastSeen = parties.get(party)?.lastSeen;
  return lastSeen !== undefined && Date.parse(now) - Date.parse(lastSeen) <= OFFLINE_AFTER_MS;
}

/**
 * Whether a party is suspended. The result is false if a consumer asks about a duchy, because consumers may not read a
 * duchy's state.
 */
export function isSuspended({ viewer, parties }: Facts, party: string): boolean {
  if (viewer === 'measurementConsumer' && party.startsWith('duchies/')) return false;
  return parties.get(party)?.state === 'SUSPENDED';
}

/** Whether the provider's public key has changed since the requisition was encrypted for it. */
export function hasChangedKey({ parties }: Facts, { provider, publicKey }: RequisitionWithKey): boolean {
  const current = parties.get(provider)?.publicKey;
  return current !== undefined && !equalBytes(keysetOf(current), publicKey.data);
}

/** Returns the name that the viewer uses for a requisition. */
export function requisitionName({ viewer, aggregate }: Facts, { provider, id }: RequisitionOutline): string {
  const parent = viewer === 'measurementConsumer' ? measurementName(aggregate.measurement) : provider;
  return `${parent}/requisitions/${id}`;
}

/** Formats a duration, for example as `3 h` or `2 days`. */
export function inWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

export function shortTime(time: Timestamp): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}
