/**
 * Computes the identifiers of needs, definitions, and reports at the exchange. An identifier is an HMAC under a key
 * that only the consumer can derive, so the exchange cannot test guesses of filters, days, or titles.
 */
import { derive, secretsOf } from '../binding.ts';
import { type Dependencies, privateKeysets } from '../deps.ts';

const HMAC = { name: 'HMAC', hash: 'SHA-256' };

export class ReportKeys {
  /** The current key, followed by the keys of earlier private keysets. */
  private readonly keys: readonly [CryptoKey, ...CryptoKey[]];

  private constructor(keys: readonly [CryptoKey, ...CryptoKey[]]) {
    this.keys = keys;
  }

  static async of(deps: Dependencies): Promise<ReportKeys> {
    const secrets = await Promise.all(privateKeysets(deps).map(secretsOf));
    const keys = await Promise.all(secrets.flat().map(hmacKey));
    return new ReportKeys(keys as [CryptoKey, ...CryptoKey[]]);
  }

  /** Returns the HMAC of the texts under the current key. */
  of(...texts: string[]): Promise<Uint8Array> {
    return sign(this.keys[0], texts);
  }

  /** Returns the HMAC under each key, because an existing identifier may have been computed with an earlier key. */
  underAll(...texts: string[]): Promise<Uint8Array[]> {
    return Promise.all(this.keys.map((key) => sign(key, texts)));
  }
}

async function hmacKey(secret: CryptoKey): Promise<CryptoKey> {
  const bytes = await derive(secret, new Uint8Array(), 'report keys', [], 32);
  return crypto.subtle.importKey('raw', Uint8Array.from(bytes), HMAC, false, ['sign']);
}

async function sign(key: CryptoKey, texts: string[]): Promise<Uint8Array> {
  const content = new TextEncoder().encode(JSON.stringify(texts));
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, content));
}

/**
 * Returns the key under which the exchange stores one attempt to measure a need. `key` identifies the need on the
 * consumer's side. The attempts need different keys, because a report can have only one measurement for each key.
 */
export async function exchangeKey(keys: ReportKeys, key: string, attempt: number): Promise<string> {
  return hex(await keys.of('need', key, String(attempt)));
}

/** Like `exchangeKey`, but returns one key for each private key of the consumer, including earlier private keys. */
export async function exchangeKeys(keys: ReportKeys, key: string, attempt: number): Promise<string[]> {
  return (await keys.underAll('need', key, String(attempt))).map(hex);
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
