/** The facts that an explanation is decided from, beside the measurement itself. */
import {
  equalBytes,
  type PartyState,
  type SignedMessage,
  type Timestamp,
} from '@measurement-exchange/contract';
import type {
  AggregateOf,
  MeasurementOutline,
  RequisitionContent,
  RequisitionOutline,
  Trigger,
} from '../aggregate.ts';
import type { Certificate } from '../certificate.ts';
import { keysetOf } from '../consent.ts';
import type { Deadlines, Report } from '../deadlines.ts';

/** The kind of caller; each is shown only facts that it could read elsewhere. */
export type Viewer = 'measurementConsumer' | 'dataProvider' | 'duchy';

/** When something that is pending ends by itself. */
export interface PendingDeadlines extends Deadlines {
  /** Retention: measurements pending longer than this are cancelled. */
  cancelPendingAfterDays: number | undefined;
}

export interface PartyFacts {
  name: string;
  state: PartyState;
  publicKey: SignedMessage | undefined;
  lastSeen: Timestamp | undefined;
}

/** The latest report of a duchy, in its words. */
export interface WordedReport extends Report {
  message: string;
  time: Timestamp;
}

/** A requisition with the key that it is encrypted for. */
export type RequisitionWithKey = RequisitionOutline & Pick<RequisitionContent, 'publicKey'>;
export type ExplainedAggregate = AggregateOf<MeasurementOutline, RequisitionWithKey>;

export interface Facts {
  viewer: Viewer;
  /** Where a provider asks, the only requisition is its own. */
  aggregate: ExplainedAggregate;
  /** The cause of the last step of the measurement. */
  cause: Trigger;
  parties: ReadonlyMap<string, PartyFacts>;
  /** By name: those that the measurement rests on. */
  certificates: ReadonlyMap<string, Certificate>;
  reports: readonly WordedReport[];
  deadlines: PendingDeadlines;
  now: Timestamp;
}

/** A party that was not seen for this long is offline: agents and duchies call every few seconds. */
export const OFFLINE_AFTER_MS = 10 * 60_000;

export function isPresent({ parties, now }: Facts, party: string): boolean {
  const lastSeen = parties.get(party)?.lastSeen;
  return lastSeen !== undefined && Date.parse(now) - Date.parse(lastSeen) <= OFFLINE_AFTER_MS;
}

/** Whether the viewer can read the state of the party: a consumer cannot read duchies. */
export function isSuspended({ viewer, parties }: Facts, party: string): boolean {
  if (viewer === 'measurementConsumer' && party.startsWith('duchies/')) return false;
  return parties.get(party)?.state === 'SUSPENDED';
}

/** Whether the provider publishes another key than the one that the requisition was encrypted for. */
export function hasChangedKey({ parties }: Facts, { provider, publicKey }: RequisitionWithKey): boolean {
  const current = parties.get(provider)?.publicKey;
  return current !== undefined && !equalBytes(keysetOf(current), publicKey.data);
}

/** The name under which the viewer knows a requisition. */
export function requisitionName({ viewer, aggregate }: Facts, { provider, id }: RequisitionOutline): string {
  const { consumer, id: measurement } = aggregate.measurement;
  return viewer === 'measurementConsumer'
    ? `${consumer}/measurements/${measurement}/requisitions/${id}`
    : `${provider}/requisitions/${id}`;
}

/** `3 h`, `2 days`. */
export function inWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** To the minute, which is enough to read. */
export function shortTime(time: Timestamp): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}
