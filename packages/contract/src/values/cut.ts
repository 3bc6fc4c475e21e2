/**
 * Returns the beginning of a text, at most `max` UTF-16 code units. Does not split a surrogate pair, and replaces
 * unpaired surrogates. The exchange rejects JSON with an unpaired surrogate, so such a request would always fail.
 */
export function cut(text: string, max: number): string {
  const isHalved = text.length > max && /[\ud800-\udbff]/.test(text.charAt(max - 1));
  return text.slice(0, isHalved ? max - 1 : max).toWellFormed();
}
