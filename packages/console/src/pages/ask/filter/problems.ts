/** Finds problems in a filter, and suggests fixes. */
import type { FilterProblem, filterProblem, PublishedAttribute } from '@measurement-exchange/sdk/filters';
import { type Described, type OfferedAttribute, offeredAttributes } from './attributes.ts';
import { isClosed, quoted, type Token, tokensOf } from './tokens.ts';

export interface Fix {
  label: string;
  text: string;
}

export interface Problem {
  message: string;
  line?: number;
  column?: number;
  fix?: Fix;
  /**
   * The publishers that would refuse the filter. Absent if the filter is invalid even with the attributes of all
   * publishers combined.
   */
  publishers?: readonly string[];
}

/** Checks a filter against all picked event groups. `check` is the function `filterProblem`, which is loaded lazily. */
export function problemOf(
  text: string,
  groups: readonly Described[],
  check: typeof filterProblem,
): Problem | undefined {
  if (text.trim() === '') return undefined;
  const offered = offeredAttributes(groups);
  const found = check(text, offered.length > 0 ? offered : undefined);
  if (found) return described(text, found, offered);
  return problemOfSome(text, groups, check);
}

/**
 * Returns a problem if some publishers would refuse the filter, for example because their event groups do not have an
 * attribute that the filter uses.
 */
function problemOfSome(
  text: string,
  groups: readonly Described[],
  check: typeof filterProblem,
): Problem | undefined {
  const refusing = new Map<string, FilterProblem>();
  for (const { dataProvider, attributes } of groups) {
    const found = check(text, attributes as PublishedAttribute[] | undefined);
    if (found && !refusing.has(dataProvider!)) refusing.set(dataProvider!, found);
  }
  const [first] = refusing.values();
  if (first === undefined) return undefined;
  const { message, position } = first;
  return { message: sentence(message), ...position, publishers: [...refusing.keys()] };
}

function described(text: string, found: FilterProblem, offered: readonly OfferedAttribute[]): Problem {
  const { message, position, suggestion } = found;
  const offset = position ? offsetOf(text, position) : 0;
  const mended =
    unclosed(text) ??
    misnamedFunction(text, found) ??
    (position && mendedAt(text, offset, suggestion, offered));
  return { message: sentence(mended?.message ?? message), ...position, ...(mended && { fix: mended.fix }) };
}

export function offsetOf(text: string, { line, column }: { line: number; column: number }): number {
  const before = text.split('\n').slice(0, line - 1);
  return before.reduce((sum, { length }) => sum + length + 1, 0) + column - 1;
}

interface Mended {
  message?: string;
  fix: Fix;
}

const SPELLINGS: Record<string, { is: string; message: string }> = {
  '=': { is: '==', message: 'Compare with ==, not =' },
  '===': { is: '==', message: 'Compare with ==, not ===' },
  '!==': { is: '!=', message: 'Compare with !=, not !==' },
  '<>': { is: '!=', message: 'Compare with !=, not <>' },
  '&': { is: '&&', message: 'Combine with &&, not &' },
  '|': { is: '||', message: 'Combine with ||, not |' },
  and: { is: '&&', message: 'Combine with &&, not and' },
  or: { is: '||', message: 'Combine with ||, not or' },
};

function mendedAt(
  text: string,
  offset: number,
  suggestion: string | undefined,
  offered: readonly OfferedAttribute[],
): Mended | undefined {
  const tokens = tokensOf(text).filter(({ kind }) => kind !== 'space');
  const at = tokens.findIndex(({ end }) => end > offset);
  if (at < 0) return undefined;
  const replaced = (token: Token, by: string): Fix => ({
    label: `Change to ${by}`,
    text: text.slice(0, token.start) + by + text.slice(token.end),
  });
  // Check the neighboring tokens too, because the parser may report the token before or after the wrong one.
  for (const token of [tokens[at], tokens[at - 1], tokens[at + 1]]) {
    const spelling = token && token.kind !== 'text' ? SPELLINGS[token.text.toLowerCase()] : undefined;
    if (spelling) return { message: spelling.message, fix: replaced(token!, spelling.is) };
  }
  const token = tokens[at]!;
  if (token.kind !== 'name') return undefined;
  const isCompared = ['==', '!='].includes(tokens[at - 1]?.text ?? '');
  const compared = isCompared ? offered.find(({ name }) => name === tokens[at - 2]?.text) : undefined;
  if (compared?.type === 'STRING') {
    return { message: 'Put text in quotes', fix: replaced(token, quoted(token.text)) };
  }
  if (suggestion === undefined) return undefined;
  return { message: `There is no attribute ${token.text}`, fix: replaced(token, suggestion) };
}

function unclosed(text: string): Mended | undefined {
  const last = tokensOf(text.trimEnd()).at(-1);
  if (last?.kind !== 'text' || isClosed(last)) return undefined;
  return {
    message: 'The text has no closing quote',
    fix: { label: 'Add the quote', text: text.trimEnd() + last.text[0]! },
  };
}

/** Fixes a misspelled function name, which is the last part of a token such as `device.startWith`. */
function misnamedFunction(text: string, { message, suggestion }: FilterProblem): Mended | undefined {
  const name = /^There is no function (\w+)/.exec(message)?.[1];
  const token = tokensOf(text).find(
    (token) => token.kind === 'name' && token.text.split('.').at(-1) === name,
  );
  if (name === undefined || suggestion === undefined || token === undefined) return undefined;
  const changed = text.slice(0, token.end - name.length) + suggestion + text.slice(token.end);
  return { fix: { label: `Change to ${suggestion}`, text: changed } };
}

const sentence = (message: string) => (/[.!?]$/.test(message) ? message : `${message}.`);
