/** Checks and compares addresses to which tokens and secrets are sent. */
import { isLoopbackAddress } from '@measurement-exchange/contract';

export function safeAddress(text: string, what: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url))) return url;
  throw new Error(`${what} must be an address that begins with https:// (http:// only on this machine).`);
}

export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || isLoopbackAddress(hostname.replace(/^\[|\]$/g, ''));
}

/** Removes slashes at the end, so that two spellings of an exchange's address compare equal. */
export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
