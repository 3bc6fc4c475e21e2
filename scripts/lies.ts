/**
 * Prints docs/lies.md. This page lists the false statements ("lies") that tests make in the name of a party, and the
 * expected reactions. The prose is in the page itself. The rows between `<!-- lies: <file> -->` and `<!-- end -->` are
 * read from the syntax tree of that file.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';

/** A node of the syntax tree. Its members depend on its kind. */
// biome-ignore lint/suspicious/noExplicitAny: every kind of node has other members
type Node = any;

interface Lie {
  title: string;
  says: string;
}

const PLACE = /(<!-- lies: (\S+) -->\n)[\s\S]*?(<!-- end -->)/g;
/** A reason, code or state that a test expects. */
const CODE = /\b[A-Z]{3,}(?:_[A-Z]+)+\b/g;
/** Names of stages, roles and constants, which look like codes but are not. */
const NO_CODE =
  /_(PHASE|PHASES|INPUT|INPUTS|WORKER|START|ONE|TWO|THREE|FULFILLMENT|REACH|FREQUENCY)\b|_(BYTES|URLS|RANGES|PURPOSE|INFINITY|SHUFFLE)$|^(DISCRETE|REACH|SHARE)_/;

export function printLies(root: string): string {
  const page = readFileSync(join(root, 'docs/lies.md'), 'utf8');
  return page.replace(PLACE, (_, start: string, path: string, end: string) => {
    const groups = globSync(path, { cwd: root })
      .sort()
      .flatMap((file) => [...liesIn(file, readFileSync(join(root, file), 'utf8'))]);
    if (groups.length === 0) throw new Error(`docs/lies.md: no lies in ${path}`);
    return `${start}\n${groups.map(tableOf).join('\n')}\n${end}`;
  });
}

function tableOf([group, lies]: [string, Lie[]]): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  const rows = lies.map(({ title, says }) => `| ${cell(title)} | ${cell(says)} |`);
  return `| ${cell(group)} | Says |\n|---|---|\n${rows.join('\n')}\n`;
}

/** Returns the lies of a file, by the title of the enclosing `describe` or table, in the order of the file. */
export function liesIn(file: string, source: string): Map<string, Lie[]> {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  const found = new Map<string, Lie[]>();
  const add = (group: string, lie: Lie) => {
    const key = group.replace(/[: ]+$/, '') || 'Lie';
    found.set(key, [...(found.get(key) ?? []), lie]);
  };
  const sourceOf = (nodes: Node[]) => nodes.map(({ start, end }) => source.slice(start, end)).join();
  /** The codes that the body of a table's test expects for every row. */
  let expected = '';
  const visit = (node: Node, group: string): void => {
    if (node === null || typeof node !== 'object') return;
    const call = testCallOf(node);
    const lie = call === undefined ? rowOf(node) : undefined;
    if (call?.name === 'describe') visit(call.body, call.title);
    else if (call?.rows !== undefined) {
      const inner = [group, call.title].filter(Boolean).join(' ');
      expected = codesIn(sourceOf(call.body));
      visit(call.rows, inner);
      expected = '';
    } else if (call !== undefined) {
      const says = codesIn(sourceOf(call.body));
      if (says !== '') add(group, { title: call.title, says });
    } else if (lie !== undefined) add(group, { ...lie, says: lie.says || expected || 'rejected' });
    else for (const child of Object.values(node)) visit(child, group);
  };
  visit(program, '');
  return found;
}

/** Parses `describe(title, body)`, `test(title, body)`, or `test.each(rows)(title, body)`. */
function testCallOf(node: Node): { name: string; title: string; body: Node[]; rows?: Node } | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const { callee, arguments: given } = node;
  const each =
    callee.type === 'CallExpression' && callee.callee.type === 'MemberExpression' ? callee : undefined;
  const name = (each === undefined ? callee : each.callee.object).name;
  if (!['describe', 'it', 'test'].includes(name) || given.length < 2) return undefined;
  const title =
    textOf(given[0])
      ?.replace(/\s*[%$][\w.]+/g, '')
      .trim() ?? '';
  const body = given.slice(1);
  return each === undefined || name === 'describe'
    ? { name, title, body }
    : { name, title, body, rows: each.arguments };
}

/** Parses a table row: a title, a function that makes a true statement false, and optionally the expected reaction. */
function rowOf(node: Node): Lie | undefined {
  if (node.type !== 'ArrayExpression' || node.elements.length < 2) return undefined;
  const [first, ...rest] = node.elements as Node[];
  const title = textOf(first);
  const isFunction = ({ type }: Node) => type.endsWith('FunctionExpression');
  // The function can be a function expression anywhere in the row, or a call or a name right after the title.
  const isSpoiled = rest.some(isFunction) || (rest.length > 1 && textOf(rest[0]) === undefined);
  if (title === undefined || !isSpoiled) return undefined;
  const said = textOf(rest[0]) === undefined ? rest.slice(1) : rest;
  return { title, says: said.map(saidBy).filter(Boolean).join(', ') };
}

function saidBy(node: Node): string {
  if (node.type === 'CallExpression') return node.arguments.map(saidBy).filter(Boolean).join(', ');
  if (node.type === 'ObjectExpression') {
    return node.properties
      .filter(({ key }: Node) => ['reason', 'field', 'code'].includes(key?.name))
      .map(({ value }: Node) => saidBy(value))
      .join(', ');
  }
  const text = node.regex === undefined ? textOf(node) : readable(node.regex.pattern);
  return text === undefined ? '' : `\`${text}\``;
}

/** Makes a regular expression readable by replacing its wildcards. */
function readable(pattern: string): string {
  return pattern
    .replace(/^\^|\$$/g, '')
    .replace(/\.\*|\\[dSw]\+|\[\^?[^\]]+\]\+/g, '…')
    .replace(/\\(.)/g, '$1')
    .replace(/[: ]+$/, '')
    .trim();
}

function codesIn(text: string): string {
  const codes = (text.match(CODE) ?? []).filter((code) => !NO_CODE.test(code));
  return [...new Set(codes)].map((code) => `\`${code}\``).join(', ');
}

function textOf(node: Node): string | undefined {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type !== 'TemplateLiteral') return undefined;
  const { quasis, expressions } = node;
  return quasis
    .map(
      (quasi: Node, i: number) =>
        quasi.value.cooked + (expressions[i]?.name === undefined ? '' : `\${${expressions[i].name}}`),
    )
    .join('');
}
