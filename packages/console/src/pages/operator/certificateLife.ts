/** How long a certificate still lasts, in words. */
import type { Tone } from '../../parts/Icon.tsx';

const DAY_MS = 86_400_000;
/** A renewal takes people some days, so the console warns early. */
const WARN_DAYS = 45;
const URGENT_DAYS = 14;
/** The bar of a certificate is full from a year on. */
const FULL_DAYS = 365;

export interface Life {
  words: string;
  tone: Tone | undefined;
  /** The part of the bar that is filled, from 0 to 1. */
  share: number;
  days: number;
}

function lasting(days: number): string {
  if (days > 2 * FULL_DAYS) return `${Math.floor(days / FULL_DAYS)} years`;
  return days === 1 ? '1 day' : `${days} days`;
}

export function certificateLife(notAfter: string | Date, now = Date.now()): Life {
  const left = new Date(notAfter).getTime() - now;
  const days = Math.floor(left / DAY_MS);
  const words = left <= 0 ? 'Ended' : days === 0 ? 'Ends today' : lasting(days);
  const tone = days <= URGENT_DAYS ? 'bad' : days <= WARN_DAYS ? 'warn' : undefined;
  return { words, tone, share: Math.min(1, Math.max(0, days / FULL_DAYS)), days };
}
