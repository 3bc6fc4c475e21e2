/** Splits a filter into tokens, for coloring and completion. Any text can be split, also one that is not valid yet. */

export interface Token {
  kind: 'name' | 'text' | 'number' | 'operator' | 'space';
  text: string;
  start: number;
  end: number;
}

const PATTERN =
  /(?<space>\s+)|(?<text>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|(?<number>\d[\w.]*)|(?<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\.?)|(?<operator>&&?|\|\|?|={1,3}|!=?=?|<>|[<>]=?|.)/gsu;

export function tokensOf(text: string): Token[] {
  return [...text.matchAll(PATTERN)].map(({ 0: found, index, groups }) => {
    const kind = Object.keys(groups!).find((name) => groups![name] !== undefined) as Token['kind'];
    return { kind, text: found, start: index, end: index + found.length };
  });
}

/** Whether a text token has its closing quote. */
export const isClosed = ({ text }: Token) => /^(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')$/s.test(text);

/** Writes a text as it appears in a filter. */
export const quoted = (text: string) =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}"`;
