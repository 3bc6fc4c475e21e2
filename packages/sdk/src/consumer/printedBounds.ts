/** Limits the size of metadata in JSON. JSON contains field names, so it may be much longer than the binary message. */
import type { JsonValue } from '@bufbuild/protobuf';

export const PRINTED_BOUNDS = { characters: 1024 * 1024, items: 20_000, depth: 64 } as const;

export function beyondBounds(json: JsonValue): string | undefined {
  const bounds = PRINTED_BOUNDS;
  let characters = 0;
  let items = 0;
  const left: [value: JsonValue, depth: number][] = [[json, 1]];
  const count = (text: string) => {
    // Do not escape text that is already too long, because escaping never makes it shorter.
    characters +=
      characters + text.length > bounds.characters ? text.length : JSON.stringify(text).length + 1;
  };
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [value, depth] = next;
    if (depth > bounds.depth) return `it is more than ${bounds.depth} levels deep`;
    const entries: [string, JsonValue][] =
      typeof value === 'object' && value !== null ? Object.entries(value) : [];
    items += 1 + entries.length;
    if (items > bounds.items) return `it has more than ${bounds.items} values`;
    count(typeof value === 'object' ? '' : String(value));
    for (const [key, member] of entries) {
      if (!Array.isArray(value)) count(key);
      if (characters > bounds.characters) return `it has more than ${bounds.characters} characters`;
      left.push([member, depth + 1]);
    }
    if (characters > bounds.characters) return `it has more than ${bounds.characters} characters`;
  }
  return undefined;
}
