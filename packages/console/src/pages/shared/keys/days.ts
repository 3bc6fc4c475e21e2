/** A certificate that ends within so many days should be renewed. */
export const SOON_DAYS = 30;

/** The whole days until a time, negative if it has passed. */
export function daysLeft(time: string, now = Date.now()): number {
  return Math.floor((Date.parse(time) - now) / 86_400_000);
}

/** The SHA-256 fingerprint as people compare it, or undefined on a page without TLS, where browsers do not compute it. */
export async function fingerprintOf(der: Uint8Array): Promise<string | undefined> {
  if (globalThis.crypto.subtle === undefined) return undefined;
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(der)));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join(':');
}
