/**
 * Returns the beginning of a text, at most `max` UTF-16 code units. Does not split a surrogate pair. Replaces unpaired
 * surrogates, because the exchange rejects every request whose JSON contains one.
 */
export function cut(text: string, max: number): string {
  const isHalved = text.length > max && /[\ud800-\udbff]/.test(text.charAt(max - 1));
  return text.slice(0, isHalved ? max - 1 : max).toWellFormed();
}
