/** Completes a filter at the caret with attribute names, operators, and example values. */
import { literalsOf, type OfferedAttribute } from './attributes.ts';
import { isClosed, type Token, tokensOf } from './tokens.ts';

export interface Completion {
  /** The text to insert into the filter. It replaces the characters from `from` to `to` (see Completions). */
  insert: string;
  label: string;
  meaning?: string;
  attribute?: OfferedAttribute;
}

export interface Completions {
  from: number;
  to: number;
  items: Completion[];
}

const OPENERS = ['(', '&&', '||', '!'];
const COMPARISONS = ['==', '!=', '<', '<=', '>', '>='];
const MAX_ITEMS = 12;

export function completionsAt(
  text: string,
  caret: number,
  attributes: readonly OfferedAttribute[],
): Completions {
  const tokens = tokensOf(text.slice(0, caret));
  const last = tokens.at(-1);
  const partial = last && isPartial(last) ? last : undefined;
  const before = tokens.filter((token) => token !== partial && token.kind !== 'space');
  const typed = partial?.text ?? '';
  const to = caret + (partial ? restOf(text, caret, partial) : 0);
  const named = (name: string | undefined) => attributes.find((attribute) => attribute.name === name);
  const at = (items: Completion[], from = partial?.start ?? caret): Completions => ({
    from,
    to: from === caret ? caret : to,
    items: items.slice(0, MAX_ITEMS),
  });

  const compared = named(comparedName(before));
  if (compared) return at(values(compared, typed, before));
  const previous = before.at(-1);
  if (previous === undefined || OPENERS.includes(previous.text)) {
    const names = matching(attributes, typed);
    const isOnlyMatch = names.length === 1 && names[0]!.name === typed;
    if (!isOnlyMatch) return at(names.map(nameItem));
    return at(operators(names[0]!, ' '), caret);
  }
  if (previous.kind === 'name' && named(previous.text)) {
    return at(operators(named(previous.text)!).filter(({ label }) => label.startsWith(typed)));
  }
  const isValue = previous.kind === 'text' || previous.kind === 'number' || isEnd(previous);
  return at(isValue && last?.kind === 'space' ? JOINS : []);
}

const isEnd = ({ text }: Token) => [')', ']', 'true', 'false'].includes(text);

function isPartial(token: Token): boolean {
  return token.kind === 'name' || token.kind === 'number' || (token.kind === 'text' && !isClosed(token));
}

/** Returns the number of characters after the caret that belong to the token before the caret. */
function restOf(text: string, caret: number, { kind }: Token): number {
  return (kind === 'name' ? /^[\w.]*/ : /^[^"'\s)\]]*["']?/).exec(text.slice(caret))![0].length;
}

/**
 * Returns the name of the attribute that the value at the caret is compared with. This is `device` in `device == |` and
 * in `device in ["tv", |`, where `|` is the caret.
 */
function comparedName(before: readonly Token[]): string | undefined {
  const [name, operator] = before.slice(-2);
  if (operator && COMPARISONS.includes(operator.text)) return name!.text;
  const open = before.findLastIndex(({ text }) => text === '[');
  const isInList =
    open > 1 && before.slice(open).every(({ text }) => text !== ']') && before[open - 1]!.text === 'in';
  const expectsItem = ['[', ','].includes(before.at(-1)?.text ?? '');
  return isInList && expectsItem ? before[open - 2]!.text : undefined;
}

function values(attribute: OfferedAttribute, typed: string, before: readonly Token[]): Completion[] {
  const open = before.findLastIndex(({ text }) => text === '[');
  const used = open < 0 ? [] : before.slice(open).map(({ text }) => text);
  const bare = (text: string) => text.replace(/^["']/, '').toLowerCase();
  return literalsOf(attribute)
    .filter((literal) => bare(literal).startsWith(bare(typed)) && !used.includes(literal))
    .map((literal) => ({ insert: literal, label: literal }));
}

/** Returns the attributes whose names contain the text. Names that start with the text come first. */
function matching(attributes: readonly OfferedAttribute[], typed: string): OfferedAttribute[] {
  const wanted = typed.toLowerCase();
  const isPrefix = ({ name }: OfferedAttribute) => name.toLowerCase().startsWith(wanted);
  return attributes
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .sort((a, b) => Number(isPrefix(b)) - Number(isPrefix(a)));
}

function nameItem(attribute: OfferedAttribute): Completion {
  const { name, type } = attribute;
  const usual = type === 'STRING' || type === 'BOOL' ? '== ' : '';
  return { insert: `${name} ${usual}`, label: name, attribute };
}

function operators({ type }: OfferedAttribute, space = ''): Completion[] {
  const item = (label: string, meaning: string) => ({ insert: `${space}${label} `, label, meaning });
  const equality = [item('==', 'is'), item('!=', 'is not')];
  const order = [
    item('>=', 'at least'),
    item('>', 'more than'),
    item('<=', 'at most'),
    item('<', 'less than'),
  ];
  if (type === 'BOOL') return equality;
  const list = { insert: `${space}in [`, label: 'in', meaning: 'is one of' };
  return type === 'STRING' ? [...equality, list] : [...order, ...equality, list];
}

const JOINS: Completion[] = [
  { insert: '&& ', label: '&&', meaning: 'and' },
  { insert: '|| ', label: '||', meaning: 'or' },
];
