/**
 * The beginning of a text, at most `max` UTF-16 units long and without half of a surrogate pair. Half a pair is not valid
 * JSON, so a request with one would be rejected at every retry.
 */
export function cut(text: string, max: number): string {
  const isHalved = text.length > max && /[\ud800-\udbff]/.test(text.charAt(max - 1));
  return text.slice(0, isHalved ? max - 1 : max).toWellFormed();
}
