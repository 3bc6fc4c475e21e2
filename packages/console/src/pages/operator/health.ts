/** The status of a party in the operator's pages. */
import type { Count, PartyHealth } from '@measurement-exchange/contract';
import { count } from '../../format.ts';
import { roleOf } from '../../session/roles.ts';
import { certificateLife } from './certificateLife.ts';

/** A provider or duchy with open work is shown as silent if it has not called the exchange for this long. */
const SILENT_MS = 3600_000;

export type PartyStatus = 'suspended' | 'silent' | 'never' | 'seen';

export function statusOf({ name, state, lastSeen, open }: PartyHealth, now = Date.now()): PartyStatus {
  if (state === 'SUSPENDED') return 'suspended';
  const mustWork = roleOf(name) !== 'consumer' && open.count > 0;
  const isQuiet = lastSeen === undefined || now - Date.parse(lastSeen) > SILENT_MS;
  if (mustWork && isQuiet) return 'silent';
  return lastSeen === undefined ? 'never' : 'seen';
}

export function hasCertificateTrouble({ certificate }: PartyHealth): boolean {
  return certificate === undefined || certificateLife(certificate.notAfter).tone !== undefined;
}

export function hasWebhookTrouble({ webhooks }: PartyHealth): boolean {
  return webhooks.paused + webhooks.failing > 0;
}

/** Formats a count. `1,000+` means that the exchange stopped counting at 1,000. */
export const countWords = ({ count: known, more }: Count) => `${count(known)}${more ? '+' : ''}`;

const OPEN_WORDS = { consumer: 'open', provider: 'to answer', duchy: 'computing', operator: '' };

export function openWords({ name, open }: PartyHealth): string {
  return open.count === 0 ? '0' : `${countWords(open)} ${OPEN_WORDS[roleOf(name)]}`;
}
