/**
 * The beginning of a text, `max` UTF-16 units at most. It never ends in half of a surrogate pair, nor has one inside: a
 * message with such a half is no JSON, and whoever sends it is rejected again and again.
 */
export function cut(text: string, max: number): string {
  const isHalved = text.length > max && /[\ud800-\udbff]/.test(text.charAt(max - 1));
  return text.slice(0, isHalved ? max - 1 : max).toWellFormed();
}
