/** The rules of webhooks: allowed URLs, the payload and its signature, and the retry schedule. */
import { createHmac, hash } from 'node:crypto';
import { isIP } from 'node:net';
import {
  type Change,
  type ChangeKind,
  ExchangeError,
  hostOf,
  invalid,
  isLoopbackAddress,
  isPublicAddress,
  isPublicHost,
  MAX_WEBHOOK_URL,
  type RedeliverRequest,
  type Timestamp,
  type WebhookInput,
  type WebhookState,
  type WebhookUpdate,
} from '@measurement-exchange/contract';
import { hoursBefore, strictlyAfter } from './time.ts';

export interface WebhookRecord {
  party: string;
  id: string;
  url: string;
  description: string;
  /** The kinds of changes to deliver. Empty means all kinds. */
  kinds: ChangeKind[];
  state: WebhookState;
  pauseReason: string | undefined;
  /** The last time when the webhook skipped changes because retention had removed them. */
  skippedTime: Timestamp | undefined;
  createTime: Timestamp;
  updateTime: Timestamp;
}

export interface WebhookHealth extends Pick<WebhookRecord, 'party' | 'id' | 'state' | 'updateTime'> {
  pauseReason: string | null;
  /** The time of the earliest failure of a pending delivery. Null if no pending delivery has failed. */
  failingSince: Timestamp | null;
}

export const MAX_WEBHOOKS = 10;
/**
 * The old secret stays valid for this many hours after a rotation. During this time, each delivery is signed with both
 * secrets, so that receivers can switch at any moment.
 */
export const OLD_SECRET_HOURS = 24;
export const SECRET_BYTES = 32;
/** The maximum number of changes redelivered per hour to all webhooks of a party together. */
export const MAX_REDELIVERED = 1_000;
const MAX_TESTS = 10;
const OWNER_PAUSED = 'The owner paused it.';

export function webhookName(party: string, id: string): string {
  return `${party}/webhooks/${id}`;
}

export function newWebhook(
  party: string,
  id: string,
  input: WebhookInput,
  now: Timestamp,
  isDevelopment: boolean,
): WebhookRecord {
  return {
    party,
    id,
    url: readUrl(input.url, isDevelopment),
    description: input.description ?? '',
    kinds: input.filter?.kinds ?? [],
    state: 'ACTIVE',
    pauseReason: undefined,
    skippedTime: undefined,
    createTime: now,
    updateTime: now,
  };
}

/** Replaces only the fields that the input has. */
export function updateWebhook(
  before: WebhookRecord,
  input: WebhookUpdate,
  now: Timestamp,
  isDevelopment: boolean,
): WebhookRecord {
  const state = input.state ?? before.state;
  return {
    ...before,
    url: input.url === undefined ? before.url : readUrl(input.url, isDevelopment),
    description: input.description ?? before.description,
    kinds: input.filter === undefined ? before.kinds : (input.filter.kinds ?? []),
    state,
    pauseReason: state === 'ACTIVE' ? undefined : (before.pauseReason ?? OWNER_PAUSED),
    updateTime: strictlyAfter(now, before.updateTime),
  };
}

function readUrl(text: string, isDevelopment: boolean): string {
  const problem = urlProblem(text, isDevelopment);
  if (problem !== undefined) throw invalid([{ field: 'url', description: problem }]);
  const { href } = new URL(text);
  // Encoding a character makes it three times as long.
  if (href.length > MAX_WEBHOOK_URL)
    throw invalid([{ field: 'url', description: `must have at most ${MAX_WEBHOOK_URL} characters` }]);
  return href;
}

/**
 * Returns the reason why the URL is not allowed, or undefined if it is allowed. The IP address of a host name may
 * change, so it is checked later, on each connection.
 */
export function urlProblem(text: string, isDevelopment: boolean): string | undefined {
  // Check the form first, because the URL parser alone would also accept spaces, backslashes, and control characters.
  const url = /^https?:\/\/(?!\/)[\x21-\x5b\x5d-\x7e]+$/i.test(text) ? URL.parse(text) : null;
  if (url === null) return 'must be an https URL such as https://example.com/webhooks';
  if (url.protocol !== 'https:' && !isDevelopment) return 'must be https';
  if (url.username !== '' || url.password !== '') return 'must not have credentials';
  if (url.hash !== '' || text.endsWith('#')) return 'must not have a fragment';
  const port = Number(url.port || 443);
  if (!isDevelopment && port !== 443 && port < 1024) return 'must have port 443, or one from 1024 on';
  const host = hostOf(url);
  if (isIP(host) !== 0) return isAllowed(host, isDevelopment) ? undefined : `must not point to ${host}`;
  const isAllowedName = isPublicHost(host) || (isDevelopment && host === 'localhost');
  return isAllowedName ? undefined : 'must have a public host name';
}

export function isAllowed(address: string, isDevelopment: boolean): boolean {
  return isPublicAddress(address) || (isDevelopment && isLoopbackAddress(address));
}

/**
 * Throws if the party would exceed its limit of redelivered changes. `total.count` is the number of changes redelivered
 * since `total.since`, including the `count` changes of this request.
 */
export function requireRedeliverable(
  total: { since: Timestamp; count: number },
  count: number,
  { from, now }: { from: Timestamp | undefined; now: Timestamp },
): void {
  if (total.count <= MAX_REDELIVERED) return;
  const violations = [
    from === undefined
      ? { field: 'webhookId', description: 'is one delivery too many within an hour' }
      : { field: 'from', description: 'is before too many changes' },
  ];
  if (count > MAX_REDELIVERED) {
    const message = `More than ${MAX_REDELIVERED} changes are behind this time: choose a later time, or read them with listChanges.`;
    throw new ExchangeError('TOO_MANY_DELIVERIES', message, { violations });
  }
  const message = `A party can have ${MAX_REDELIVERED} changes delivered again within an hour: ${from === undefined ? 'wait' : 'choose a later time, or wait'}.`;
  const retryAfterSeconds = Math.ceil((Date.parse(total.since) + 3600_000 - Date.parse(now)) / 1000);
  throw new ExchangeError('TOO_MANY_DELIVERIES', message, { violations, retryAfterSeconds });
}

/** Returns the start time or the delivery's ID from the request. Throws unless the request has exactly one of them. */
export function redelivered({
  from,
  webhookId,
}: RedeliverRequest): { from: Timestamp } | { webhookId: string } {
  if (from !== undefined && webhookId === undefined) return { from };
  if (from === undefined && webhookId !== undefined) return { webhookId };
  throw invalid([{ field: 'from', description: 'must be present, or webhookId, and not both' }]);
}

/** Finds a delivery by its ID. Throws if the webhook never had this delivery, or if the delivery was removed. */
export function requireDelivery<D extends { delivery: { webhook: string; event: WebhookEvent } }>(
  latestFirst: D[],
  webhookId: string,
): D {
  const found = latestFirst.find(({ delivery }) => messageId(delivery.webhook, delivery.event) === webhookId);
  if (found !== undefined) return found;
  throw invalid([
    { field: 'webhookId', description: 'is not among the deliveries of this webhook that are kept' },
  ]);
}

export function requireTestable(waiting: number): void {
  if (waiting < MAX_TESTS) return;
  const message = `${waiting} tests of this webhook are not sent yet: wait for them.`;
  throw new ExchangeError('TOO_MANY_DELIVERIES', message, { retryAfterSeconds: 1 });
}

export type WebhookEvent = Omit<Change, 'kind'> & { kind: ChangeKind | 'TEST' };

/**
 * Returns a delivery's ID. All attempts to send a delivery have the same ID, even after `:redeliver`, so that receivers
 * can recognize duplicates.
 */
export function messageId(webhook: string, { name, version, time }: WebhookEvent): string {
  return `msg_${hash('sha256', JSON.stringify([webhook, name, version, time]), 'base64url').slice(0, 27)}`;
}

/**
 * Returns the payload, with the fields that the Standard Webhooks specification recommends: type, timestamp, and data.
 */
export function payloadOf({ time, ...event }: WebhookEvent): string {
  return JSON.stringify({ type: eventType(event), timestamp: time, data: { ...event, time } });
}

export function eventType({ kind }: Pick<WebhookEvent, 'kind'>): string {
  return kind === 'TEST' ? 'webhook.test' : `${kind.toLowerCase()}.changed`;
}

export function signedHeaders(
  id: string,
  atSeconds: number,
  payload: string,
  secrets: Uint8Array[],
): Record<string, string> {
  const signed = `${id}.${atSeconds}.${payload}`;
  const signatures = secrets.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(atSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

export function printSecret(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString('base64')}`;
}

/** A webhook is paused when a delivery has been failing for this many hours. */
const RETRY_HOURS = 72;
const FIRST_RETRY_SECONDS = 5;
const LONGEST_RETRY_SECONDS = 6 * 3600;

/**
 * Returns the delay before the next attempt. The delay triples with each failure, up to LONGEST_RETRY_SECONDS.
 * `random`, which is between 0 and 1, changes the delay by up to 25%.
 */
export function retrySeconds(failures: number, random: number): number {
  const delay = Math.min(FIRST_RETRY_SECONDS * 3 ** (failures - 1), LONGEST_RETRY_SECONDS);
  return delay * (0.75 + random / 2);
}

/**
 * Parses the header `Retry-After`, which is a number of seconds or a date. The result is between 0 and the longest
 * retry delay.
 */
export function retryAfterSeconds(header: string | undefined, now: Timestamp): number {
  if (header === undefined) return 0;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.parse(now)) / 1000;
  return seconds > 0 ? Math.min(seconds, LONGEST_RETRY_SECONDS) : 0;
}

export function endRound(
  round: {
    /**
     * The number of consecutive failed rounds before this round. A round sends the due deliveries of a webhook. The
     * round fails if deliveries failed and no delivery succeeded.
     */
    failures: number;
    settled: { state: string; status: number | undefined }[];
    /** For each failed delivery, the time of its first failure. */
    failingSince: Timestamp[];
  },
  now: Timestamp,
): { failures: number; isDead: boolean; pauseReason: string | undefined } {
  const { settled, failingSince } = round;
  const isDead = failingSince.length > 0 && !settled.some(({ state }) => state === 'DELIVERED');
  const failures = isDead ? round.failures + 1 : 0;
  const isGone = settled.some(({ state, status }) => state === 'PENDING' && status === 410);
  const isTooLong = failingSince.some((since) => since < hoursBefore(now, RETRY_HOURS));
  const pauseReason = isGone
    ? 'The endpoint responded 410 Gone.'
    : isTooLong
      ? `A delivery failed for ${RETRY_HOURS / 24} days: fix the endpoint, then set state to ACTIVE.`
      : undefined;
  return { failures, isDead, pauseReason };
}
