/** A filter's syntax tree, in which attributes are special identifiers. */
import type { parse } from '@bufbuild/cel';

export type Parsed = ReturnType<typeof parse>;
export type Expr = Parsed['expr'];
export type Kind<C extends Expr['exprKind']['case']> = Extract<Expr['exprKind'], { case: C }>['value'];

/**
 * The prefixes of identifiers that stand for attributes. An identifier in the text of a filter cannot start with one of
 * these prefixes, so an attribute is never confused with a macro's variable.
 */
const VALUE = '@value:';
const PRESENT = '@present:';
export const valueKey = (attribute: string) => VALUE + attribute;
export const presentKey = (attribute: string) => PRESENT + attribute;

/**
 * Returns the attribute that a resolved identifier refers to, or undefined for any other expression. If `present` is
 * true, the identifier tests whether the attribute is present. Otherwise, the identifier is the attribute's value.
 */
export function attributeOf(expr: Expr): { name: string; present: boolean } | undefined {
  return expr.exprKind.case === 'identExpr' ? attributeNamed(expr.exprKind.value.name) : undefined;
}

function attributeNamed(identifier: string): { name: string; present: boolean } | undefined {
  if (identifier.startsWith(VALUE)) return { name: identifier.slice(VALUE.length), present: false };
  if (identifier.startsWith(PRESENT)) return { name: identifier.slice(PRESENT.length), present: true };
  return undefined;
}

export function* identifiersIn(expr: Expr): Generator<string> {
  if (expr.exprKind.case === 'identExpr') yield expr.exprKind.value.name;
  for (const child of childrenOf(expr)) yield* identifiersIn(child);
}

export function attributesIn(expr: Expr): string[] {
  return [...identifiersIn(expr)].flatMap((identifier) => attributeNamed(identifier)?.name ?? []);
}

export const usesAttributes = (expr: Expr) =>
  identifiersIn(expr).some((name) => attributeNamed(name) !== undefined);

export function childrenOf({ exprKind }: Expr): Expr[] {
  switch (exprKind.case) {
    case 'selectExpr':
      return [exprKind.value.operand!];
    case 'callExpr':
      return exprKind.value.target ? [exprKind.value.target, ...exprKind.value.args] : exprKind.value.args;
    case 'listExpr':
      return exprKind.value.elements;
    case 'structExpr':
      return exprKind.value.entries.flatMap(({ keyKind, value }) =>
        keyKind.case === 'mapKey' ? [keyKind.value, value!] : [value!],
      );
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
      return [iterRange!, accuInit!, loopCondition!, loopStep!, result!];
    }
    default:
      return [];
  }
}

/** Splits `a && b` into its operands, which can be tested one by one. */
export function conjunctsOf(expr: Expr): Expr[] {
  if (expr.exprKind.case !== 'callExpr' || expr.exprKind.value.function !== '_&&_') return [expr];
  return expr.exprKind.value.args.flatMap(conjunctsOf);
}

const MAX_PATH = 100;

/** Returns ["a", "b"] for `a.b`, or undefined if the expression does not begin with a name or is too long. */
export function pathOf({ operand, field }: Kind<'selectExpr'>): string[] | undefined {
  const path = [field];
  let at = operand;
  while (at?.exprKind.case === 'selectExpr' && !at.exprKind.value.testOnly && path.length < MAX_PATH) {
    path.unshift(at.exprKind.value.field);
    at = at.exprKind.value.operand;
  }
  return at?.exprKind.case === 'identExpr' ? [at.exprKind.value.name, ...path] : undefined;
}

/** Returns the leftmost operand of a path, such as `a` for `a.b.c`. */
export function rootOf(expr: Expr): Expr {
  let at = expr;
  while (at.exprKind.case === 'selectExpr' && at.exprKind.value.operand) at = at.exprKind.value.operand;
  return at;
}
