/** Stores secrets, and finds them in texts in every encoding in which they may appear. */
import type { Random } from '../random.ts';

export class Secrets {
  private readonly titles = new Map<string, string>();
  private readonly seen = new Set<string>();

  get count(): number {
    return this.seen.size;
  }

  get forms(): number {
    return this.titles.size;
  }

  /** Makes a unique mark. */
  make(title: string, random: Random): string {
    const marker = `canary${random.id(24)}`;
    this.add(title, marker);
    return marker;
  }

  add(title: string, text: string): void {
    this.seen.add(text);
    this.titles.set(text, title);
    this.titles.set(encodeURIComponent(text), title);
    this.addForms(title, Buffer.from(text));
  }

  addBytes(title: string, bytes: Buffer): void {
    this.seen.add(bytes.toString('hex'));
    this.addForms(title, bytes);
  }

  private addForms(title: string, bytes: Buffer): void {
    for (const form of formsOf(bytes)) this.titles.set(form, title);
  }

  /** Ignores nonces below 10^12, because such a number may appear in a text by chance. */
  addNonce(title: string, nonce: bigint): void {
    if (nonce < 1_000_000_000_000n) return;
    this.seen.add(String(nonce));
    this.titles.set(String(nonce), title);
    this.titles.set(nonce.toString(16), title);
    // Search for the rounded nonce, too, because JSON.parse would round a leaked nonce.
    this.titles.set(String(Number(nonce)), title);
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(nonce);
    this.titles.set(bytes.toString('base64').slice(0, 10), title);
  }

  /** Returns the titles of the secrets that a text contains. */
  within(text: string): string[] {
    if (text === '') return [];
    const found = new Set<string>();
    for (const [form, title] of this.titles) if (text.includes(form)) found.add(title);
    return [...found];
  }
}

/**
 * Returns the bytes in hexadecimal, and in base64 for each of the three alignments that they can have inside a longer
 * text.
 */
function formsOf(bytes: Buffer): string[] {
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    // Leave out the characters at the edges, which also contain bits of the neighboring bytes.
    const from = before === 0 ? 0 : before + 1;
    const to = Math.floor((padded.length * 8) / 6);
    return [padded.toString('base64').slice(from, to), padded.toString('base64url').slice(from, to)];
  });
  return [hex, hex.toUpperCase(), ...base64];
}
