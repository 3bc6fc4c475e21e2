/** The facts on which an explanation is based. */
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

/** The kind of caller. An explanation reveals only facts that this caller could also read elsewhere. */
export type Viewer = 'measurementConsumer' | 'dataProvider' | 'duchy';

export interface PendingDeadlines extends Deadlines {
  cancelPendingAfterDays: number | undefined;
}

export interface PartyFacts {
  name: string;
  state: PartyState;
  publicKey: SignedMessage | undefined;
  lastSeen: Timestamp | undefined;
}

export interface WordedReport extends Report {
  message: string;
  time: Timestamp;
}

/** A requisition outline with `publicKey`, the provider's public key with which the requisition spec is encrypted. */
export type RequisitionWithKey = RequisitionOutline & Pick<RequisitionContent, 'publicKey'>;
export type ExplainedAggregate = AggregateOf<MeasurementOutline, RequisitionWithKey>;

export interface Facts {
  viewer: Viewer;
  /**
   * The measurement, its requisitions, and its participants. If the viewer is a provider, `requisitions` has only the
   * provider's own requisition.
   */
  aggregate: ExplainedAggregate;
  cause: Trigger;
  parties: ReadonlyMap<string, PartyFacts>;
  certificates: ReadonlyMap<string, Certificate>;
  reports: readonly WordedReport[];
  deadlines: PendingDeadlines;
  now: Timestamp;
}

/** A party counts as offline after this time without a call. Agents and duchies call every few seconds. */
const OFFLINE_AFTER_MS = 10 * 60_000;

export function isPresent({ parties, now }: Facts, party: string): boolean {
  const lastSeen = parties.get(party)?.lastSeen;
  return lastSeen !== undefined && Date.parse(now) - Date.parse(lastSeen) <= OFFLINE_AFTER_MS;
}

/**
 * Returns whether the party is suspended. If the viewer is a consumer and the party is a duchy, returns false.
 * Consumers are not allowed to read the state of a duchy.
 */
export function isSuspended({ viewer, parties }: Facts, party: string): boolean {
  if (viewer === 'measurementConsumer' && party.startsWith('duchies/')) return false;
  return parties.get(party)?.state === 'SUSPENDED';
}

export function hasChangedKey({ parties }: Facts, { provider, publicKey }: RequisitionWithKey): boolean {
  const current = parties.get(provider)?.publicKey;
  return current !== undefined && !equalBytes(keysetOf(current), publicKey.data);
}

export function requisitionName({ viewer, aggregate }: Facts, { provider, id }: RequisitionOutline): string {
  const parent = viewer === 'measurementConsumer' ? measurementName(aggregate.measurement) : provider;
  return `${parent}/requisitions/${id}`;
}

/** Formats a duration, for example `3 h` or `2 days`. */
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
