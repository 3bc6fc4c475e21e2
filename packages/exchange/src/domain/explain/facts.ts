/** The facts from which an explanation is derived. */
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

/** The kind of the caller. An explanation shows a caller only facts that it may also read elsewhere. */
export type Viewer = 'measurementConsumer' | 'dataProvider' | 'duchy';

/** The deadlines after which a pending measurement ends by itself. */
export interface PendingDeadlines extends Deadlines {
  /** Retention cancels measurements that are pending for longer than this. */
  cancelPendingAfterDays: number | undefined;
}

export interface PartyFacts {
  name: string;
  state: PartyState;
  publicKey: SignedMessage | undefined;
  lastSeen: Timestamp | undefined;
}

/** The latest report of a duchy, with its message. */
export interface WordedReport extends Report {
  message: string;
  time: Timestamp;
}

/** A requisition with the key that it is encrypted for. */
export type RequisitionWithKey = RequisitionOutline & Pick<RequisitionContent, 'publicKey'>;
export type ExplainedAggregate = AggregateOf<MeasurementOutline, RequisitionWithKey>;

export interface Facts {
  viewer: Viewer;
  /** For a provider, the aggregate has only the provider's own requisition. */
  aggregate: ExplainedAggregate;
  /** The cause of the last step of the measurement. */
  cause: Trigger;
  parties: ReadonlyMap<string, PartyFacts>;
  /** The certificates that the measurement depends on, by name. */
  certificates: ReadonlyMap<string, Certificate>;
  reports: readonly WordedReport[];
  deadlines: PendingDeadlines;
  now: Timestamp;
}

/** A party that did not call for this long is offline, since agents and duchies call every few seconds. */
const OFFLINE_AFTER_MS = 10 * 60_000;

export function isPresent({ parties, now }: Facts, party: string): boolean {
  const lastSeen = parties.get(party)?.lastSeen;
  return lastSeen !== undefined && Date.parse(now) - Date.parse(lastSeen) <= OFFLINE_AFTER_MS;
}

/** False for a duchy if the viewer is a consumer, which may not read the state of duchies. */
export function isSuspended({ viewer, parties }: Facts, party: string): boolean {
  if (viewer === 'measurementConsumer' && party.startsWith('duchies/')) return false;
  return parties.get(party)?.state === 'SUSPENDED';
}

/** Whether the provider publishes another key than the one that the requisition was encrypted for. */
export function hasChangedKey({ parties }: Facts, { provider, publicKey }: RequisitionWithKey): boolean {
  const current = parties.get(provider)?.publicKey;
  return current !== undefined && !equalBytes(keysetOf(current), publicKey.data);
}

/** The name by which the viewer reads a requisition. */
export function requisitionName({ viewer, aggregate }: Facts, { provider, id }: RequisitionOutline): string {
  const parent = viewer === 'measurementConsumer' ? measurementName(aggregate.measurement) : provider;
  return `${parent}/requisitions/${id}`;
}

/** Prints `3 h` or `2 days`, for example. */
export function inWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** Prints a time to the minute. */
export function shortTime(time: Timestamp): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}
