/** Splits a filter into tokens, for coloring and completion. Works for any text, even an invalid filter. */

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

export const isClosed = ({ text }: Token) => /^(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')$/s.test(text);

export const quoted = (text: string) =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}"`;
