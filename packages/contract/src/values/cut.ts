/**
 * The beginning of a text, `max` UTF-16 units at most. It has no half of a surrogate pair, at its end or inside: a message
 * with one is not JSON, so a retry of it would be rejected every time.
 */
export function cut(text: string, max: number): string {
  const isHalved = text.length > max && /[\ud800-\udbff]/.test(text.charAt(max - 1));
  return text.slice(0, isHalved ? max - 1 : max).toWellFormed();
}
