/** A certificate with at most this many remaining whole days should be renewed. */
export const SOON_DAYS = 30;

/** Returns the whole days until a time. Negative if the time has passed. */
export function daysLeft(time: string, now = Date.now()): number {
  return Math.floor((Date.parse(time) - now) / 86_400_000);
}

/**
 * Returns the SHA-256 fingerprint in hexadecimal. Returns undefined on an insecure origin, because browsers disable
 * `crypto.subtle` there.
 */
export async function fingerprintOf(der: Uint8Array): Promise<string | undefined> {
  if (globalThis.crypto.subtle === undefined) return undefined;
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(der)));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join(':');
}
