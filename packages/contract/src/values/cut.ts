/**
 * Returns the beginning of a text, at most `max` UTF-16 units, without splitting a surrogate pair. The exchange rejects
 * JSON with half a surrogate pair, so a request with such text would fail on every retry.
 */
export function cut(text: string, max: number): string {
  const isHalved = text.length > max && /[\ud800-\udbff]/.test(text.charAt(max - 1));
  return text.slice(0, isHalved ? max - 1 : max).toWellFormed();
}
