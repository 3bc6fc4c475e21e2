/** Computes upper bounds on the number of steps in one evaluation of a filter, and on the sizes of its values. */
import type { CelType } from '@bufbuild/cel';
import type { Expr } from './ast.ts';
import type { Call } from './calls.ts';
import { isDyn } from './celTypes.ts';
import type { Checked, Fail, Items } from './checked.ts';
import { patternSize } from './environment.ts';

/** The number of characters or items that are compared or copied in one step. */
const PER_STEP = 32;
/**
 * The number of character comparisons in a text search that count as one step. In the worst case, a search compares
 * each character of the searched text with each character of the text to find.
 */
const COMPARED_PER_STEP = 1000;

/**
 * Returns the number of steps in a call, without the steps that compute its arguments. `instructions` is the size of
 * the call's compiled pattern, or 0 if the call has no pattern.
 */
export function workOf({ name, target, args }: Call, instructions: number): number {
  const operands = target === undefined ? args : [target, ...args];
  if (name === 'matches') return (target!.size * instructions) / PER_STEP;
  if (name === 'contains') return (target!.size * args[0]!.size) / COMPARED_PER_STEP;
  return operands.reduce((sum, operand) => sum + operand.size / PER_STEP + walkOf(operand), 1);
}

/**
 * Returns the number of extra steps to visit all items of a list. A list literal needs no extra steps. Any other list
 * can be a linked list, for example because a macro built it. Each access to a linked list walks from the first item.
 */
export function walkOf(list: Checked): number {
  const isList = list.type.kind === 'list' || isDyn(list.type);
  if (!isList || list.expr.exprKind.case === 'listExpr') return 0;
  return itemsOf(list).count ** 2 / PER_STEP;
}

/**
 * The maximum number of elements in all lists of a filter together. No macro builds a longer list (see `rejectGrowth`).
 */
export const MAX_ELEMENTS = 1000;

export function itemsOf({ items, size }: Checked): Items {
  return items ?? { count: Math.min(MAX_ELEMENTS, size), size };
}

export function sizeOf(name: string, type: CelType, operands: Checked[]): number {
  if (type.kind !== 'list' && type.kind !== 'map' && !TEXTS.has(type.name)) return 1;
  if (name === '_[_]') return itemsOf(operands[0]!).size;
  const total = operands.reduce((sum, { size }) => sum + size, 0);
  // A UTF-16 code unit converts to at most 3 bytes of UTF-8. A number or time converts to at most 35 characters.
  return name === 'bytes' ? 3 * total : name === 'string' ? total + 35 : total;
}

const TEXTS = new Set<string>(['string', 'bytes', 'dyn']);

export function instructionsOf({ expr, name, args }: Call, fail: Fail): number {
  if (name !== 'matches') return 0;
  const text = textOf(args[0]!.expr);
  if (text === undefined) throw fail(expr, 'The pattern of matches() must be a text in quotes');
  try {
    return patternSize(text);
  } catch (error) {
    throw fail(expr, `The pattern is not valid: ${(error as Error).message}`);
  }
}

function textOf({ exprKind }: Expr): string | undefined {
  if (exprKind.case !== 'constExpr' || exprKind.value.constantKind.case !== 'stringValue') return undefined;
  return exprKind.value.constantKind.value;
}
