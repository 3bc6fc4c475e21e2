/** Secrets, and every form in which one of them may have been written. */
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

  /** A mark that is like nothing else. */
  make(title: string, random: Random): string {
    const marker = `canary${random.id(24)}`;
    this.add(title, marker);
    return marker;
  }

  add(title: string, text: string): void {
    this.seen.add(text);
    this.titles.set(text, title);
    this.titles.set(encodeURIComponent(text), title);
    this.addBytes(title, Buffer.from(text));
  }

  addBytes(title: string, bytes: Buffer): void {
    this.seen.add(bytes.toString('hex'));
    for (const form of formsOf(bytes)) this.titles.set(form, title);
  }

  /** Below a million million a number may be anything. */
  addNonce(title: string, nonce: bigint): void {
    if (nonce < 1_000_000_000_000n) return;
    this.seen.add(String(nonce));
    this.titles.set(String(nonce), title);
    this.titles.set(nonce.toString(16), title);
    // Rounded, it would still be told.
    this.titles.set(String(Number(nonce)), title);
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(nonce);
    this.titles.set(bytes.toString('base64').slice(0, 10), title);
  }

  /** The titles of those that a text holds. */
  within(text: string): string[] {
    if (text === '') return [];
    const found = new Set<string>();
    for (const [form, title] of this.titles) if (text.includes(form)) found.add(title);
    return [...found];
  }
}

/** Hexadecimal, and base64 wherever in a longer text the bytes begin: of the three ways only the middle is its own. */
function formsOf(bytes: Buffer): string[] {
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    // Without the characters that hold bits of what stands before or behind.
    const from = before === 0 ? 0 : before + 1;
    const to = Math.floor((padded.length * 8) / 6);
    return [padded.toString('base64').slice(from, to), padded.toString('base64url').slice(from, to)];
  });
  return [hex, hex.toUpperCase(), ...base64];
}
