/** Formats the remaining time of a certificate. */
import type { Tone } from '../../parts/Icon.tsx';

const DAY_MS = 86_400_000;
/** The console warns this many days before the expiry, because people need some days for a renewal. */
const WARN_DAYS = 45;
const URGENT_DAYS = 14;
/** The bar of a certificate is full if at least this many days remain. */
const FULL_DAYS = 365;

export interface Life {
  words: string;
  tone: Tone | undefined;
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
