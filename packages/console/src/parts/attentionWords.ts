/** Text about problems that need attention. */
import type { Attention, AttentionCode } from '@measurement-exchange/contract';
import { idOf } from '../session/roles.ts';
import type { IconName, Tone } from './Icon.tsx';

export interface AttentionWords {
  heading: string;
  icon: IconName;
  tone: Tone;
  action: string;
}

const KINDS: Record<string, string> = {
  measurements: 'Measurement',
  requisitions: 'Request',
  computations: 'Computation',
};

const FAILED: readonly AttentionCode[] = [
  'REFUSED',
  'CERTIFICATE_REVOKED',
  'DUCHY_GAVE_UP',
  'DEADLINE_MISSED',
  'CERTIFICATE_EXPIRED',
  'CERTIFICATE_MISSING',
];

/** `party` returns the display name of a party. `title` is the decrypted title of the measurement. */
export function attentionWords(
  one: Pick<Attention, 'code' | 'name' | 'party' | 'until'>,
  { party, title, now }: { party: (name: string) => string; title?: string | undefined; now: number },
): AttentionWords {
  const { code } = one;
  const tone = FAILED.includes(code) ? 'bad' : 'warn';
  if (code.startsWith('WEBHOOK_')) {
    const heading = code === 'WEBHOOK_PAUSED' ? 'A webhook is paused' : 'A webhook keeps failing';
    return { heading, icon: 'hook', tone, action: 'See its deliveries' };
  }
  if (one.name.includes('/certificates/') || code === 'CERTIFICATE_MISSING') {
    return { heading: certificateHeading(one, now), icon: 'key', tone, action: 'See your certificates' };
  }
  const subject = title
    ? `“${title}”`
    : `${KINDS[one.name.split('/').at(-2)!] ?? ''} ${idOf(one.name)}`.trim();
  const late = one.party === undefined ? 'somebody' : party(one.party);
  const heading = HEADINGS[code]?.(subject, late) ?? `${subject} waits for ${late}`;
  return { heading, icon: tone === 'bad' ? 'x' : 'clock', tone, action: 'See why' };
}

function certificateHeading({ code, until }: Pick<Attention, 'code' | 'until'>, now: number): string {
  if (code === 'CERTIFICATE_EXPIRED') return 'Your certificate has ended';
  if (code === 'CERTIFICATE_MISSING' || until === undefined)
    return 'You have no certificate that can be used';
  const days = Math.max(0, Math.floor((Date.parse(until) - now) / 86_400_000));
  return `Your certificate ends in ${days === 1 ? '1 day' : `${days} days`}`;
}

/** Headings by code. A code without a heading means that the resource waits for a party. */
const HEADINGS: Partial<Record<AttentionCode, (subject: string, late: string) => string>> = {
  REFUSED: (subject) => `${subject} was refused`,
  CERTIFICATE_REVOKED: (subject) => `${subject} ended because a certificate was revoked`,
  DUCHY_GAVE_UP: (subject) => `${subject} failed because a duchy gave up`,
  DEADLINE_MISSED: (subject) => `${subject} missed its deadline`,
  CERTIFICATE_EXPIRED: (subject, late) => `${subject} waits because the certificate of ${late} has ended`,
  SUSPENDED: (subject, late) => `${subject} waits because ${late} is suspended`,
  DEFERRED: (subject, late) => `${subject} is deferred by ${late}`,
  KEY_CHANGED: (subject, late) => `${subject} waits because the key of ${late} has changed`,
  STAGE_FAILING: (subject, late) => `${subject} keeps failing at ${late}`,
  DEADLINE_NEAR: (subject) => `${subject} ends soon without an answer`,
};

/** Removes commands from the exchange's text, because the page has a link instead. */
export const withoutCommands = (sentence: string) => sentence.replaceAll(/ \(mex [^)]*\)/g, '');
