/** Parses a filter's text, and reports the position of a syntax error. */
import { parse } from '@bufbuild/cel';
import { cut } from '@measurement-exchange/contract';
import type { Parsed } from './ast.ts';
import type { Fail } from './checked.ts';
import { FilterError } from './errors.ts';
import { requireLength } from './length.ts';

const MAX_BRACKETS = 200;
const MAX_SIGNS = 8000;
/**
 * The characters that count toward MAX_SIGNS. Spaces count too, because the parser may read a long run of spaces many
 * times.
 */
const SIGN = /\W/;

/**
 * A string literal, as the parser reads it. In a raw string, which begins with `r`, a backslash does not escape the quote
 * after it. A string in three quotes may have several lines.
 */
const STRING = new RegExp(
  [
    /[rR](?:"""[\s\S]*?"""|'''[\s\S]*?'''|"[^"\r\n]*"|'[^'\r\n]*')/,
    /"""(?:\\[\s\S]|[^\\])*?"""|'''(?:\\[\s\S]|[^\\])*?'''/,
    /"(?:\\[\s\S]|[^\\"\r\n])*"|'(?:\\[\s\S]|[^\\'\r\n])*'/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'y',
);
const COMMENT = /\/\/[^\r\n]*/y;

/** Parses a filter. Also returns a function that creates errors that point to a position in the filter. */
export function parseFilter(expression: string): [Parsed, Fail] {
  requireLength(expression);
  if (!expression.isWellFormed()) throw new FilterError('FILTER_SYNTAX', 'The filter is not valid Unicode');
  requireShort(expression);
  try {
    const result = parse(expression);
    const positions = result.sourceInfo?.positions ?? {};
    return [
      result,
      (at, message, code = 'FILTER_TYPE', suggestion) => {
        const position = positionOf(expression, positions[at.id.toString()] ?? 0);
        return new FilterError(code, message, position, suggestion);
      },
    ];
  } catch (error) {
    throw notCel(error);
  }
}

const tooDeep = () => new FilterError('FILTER_LIMIT', 'The filter nests too deep');

/**
 * Rejects expressions that would take a long time to parse, because they nest deeply or have many operators and spaces.
 */
function requireShort(expression: string): void {
  let [depth, signs] = [0, 0];
  for (let i = 0; i < expression.length; ) {
    STRING.lastIndex = COMMENT.lastIndex = i;
    if (STRING.test(expression)) i = STRING.lastIndex;
    else if (COMMENT.test(expression)) {
      // The parser may read a comment many times, as it reads spaces.
      signs += COMMENT.lastIndex - i;
      i = COMMENT.lastIndex;
    } else {
      const character = expression[i++]!;
      signs += Number(SIGN.test(character));
      depth += Number('([{'.includes(character)) - Number(')]}'.includes(character));
    }
    if (depth > MAX_BRACKETS) throw tooDeep();
    if (signs > MAX_SIGNS)
      throw new FilterError('FILTER_LIMIT', 'The filter has too many operators and spaces');
  }
}

function notCel(error: unknown): FilterError {
  if (error instanceof RangeError) return tooDeep();
  const message = (error as Error).message;
  // The parser's message is "<input>:1:6: found x but expecting …", followed by a list of all tokens.
  const [, line, column, found] = /^<input>:(\d+):(\d+): (?:found (.*?) but expecting)?/s.exec(message) ?? [];
  const position = line === undefined ? undefined : { line: Number(line), column: Number(column) };
  const reason = found === undefined ? cut(message, 200) : `unexpected ${found}`;
  return new FilterError('FILTER_SYNTAX', `The filter is not valid CEL: ${reason}`, position);
}

function positionOf(expression: string, offset: number): { line: number; column: number } {
  // An operator's position includes the space before it, so skip the space.
  const start = offset + /^\s*/.exec(expression.slice(offset))![0].length;
  const lines = expression.slice(0, start).split('\n');
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}
