/** Checks the argument types of a filter's operators and functions, and returns their result types. */
import { CelScalar, type CelType, isCelError, plan } from '@bufbuild/cel';
import { cut } from '@measurement-exchange/contract';
import { childrenOf, type Expr, identifiersIn } from './ast.ts';
import { common, describe, fits, isBool, isDyn, isNumber, mixed, spelled } from './celTypes.ts';
import type { Checked, Fail } from './checked.ts';
import { closest } from './closest.ts';
import { environment, OVERLOADS } from './environment.ts';

export interface Call {
  expr: Expr;
  name: string;
  target: Checked | undefined;
  args: Checked[];
  variables: ReadonlyMap<string, unknown>;
}

const { BOOL, DYN, INT } = CelScalar;

export function resultType(call: Call, fail: Fail): CelType {
  const { expr, name } = call;
  const types = call.args.map((arg) => arg.type);
  const [a, b, c] = types as [CelType, CelType, CelType];
  const wrong = (message: string) => fail(expr, message);
  switch (name) {
    case '_&&_':
    case '_||_':
    case '!_': {
      const odd = types.find((type) => !isBool(type));
      if (odd === undefined) return BOOL;
      throw wrong(`${spelled(name)} needs true or false, and this is ${describe(odd)}`);
    }
    case '@not_strictly_false':
      return BOOL;
    case '_?_:_':
      if (!isBool(a)) throw wrong(`? needs true or false before it, and this is ${describe(a)}`);
      if (fits(b, c)) return common([b, c]);
      throw wrong(`? : needs one type on both sides, not ${describe(b)} and ${describe(c)}`);
    case '_==_':
    case '_!=_':
      if (fits(a, b)) return BOOL;
      throw wrong(mixed(name, a, b));
    case '@in': {
      if (isDyn(b)) return BOOL;
      if (b.kind !== 'list' && b.kind !== 'map')
        throw wrong(`in needs a list or a map, and this is ${describe(b)}`);
      const element = b.kind === 'list' ? b.element : b.key;
      if (fits(a, element)) return BOOL;
      throw wrong(mixed(name, a, element));
    }
    case '_[_]':
      if (a.kind === 'list' && fits(b, INT)) return a.element;
      if (a.kind === 'map' && fits(b, a.key)) return a.value;
      if (isDyn(a)) return DYN;
      throw wrong(`[ ] cannot be used on ${describe(a)} with ${describe(b)}`);
    case 'has':
      throw wrong('has() takes a member, such as a.b; write a != null for a name');
    default:
      return overload(call, fail);
  }
}

/** The functions that a filter can call by name. Excludes operators, whose names, such as `_+_`, are internal. */
const FUNCTION_NAMES = [...OVERLOADS.keys()].filter((name) => /^[a-z]/i.test(name));

const noFunction = (expr: Expr, name: string, fail: Fail) =>
  fail(expr, `There is no function ${spelled(name)}`, 'FILTER_TYPE', closest(name, FUNCTION_NAMES));

/** Throws if the expression calls an unknown function. This check works without the types of the attributes. */
export function requireFunctions(expr: Expr, fail: Fail): void {
  if (expr.exprKind.case === 'callExpr') {
    const { function: name } = expr.exprKind.value;
    if (/^[a-z]/i.test(name) && name !== 'has' && !OVERLOADS.has(name)) throw noFunction(expr, name, fail);
  }
  for (const child of childrenOf(expr)) requireFunctions(child, fail);
}

function overload(call: Call, fail: Fail): CelType {
  const { expr, name, target, args } = call;
  const named = OVERLOADS.get(name);
  if (named === undefined) throw noFunction(expr, name, fail);
  const types = args.map((arg) => arg.type);
  const fitting = named.filter(
    (func) =>
      (func.target === undefined) === (target === undefined) &&
      (target === undefined || fits(target.type, func.target!)) &&
      func.arguments.length === args.length &&
      func.arguments.every((parameter, i) => fits(types[i]!, parameter)),
  );
  if (fitting.length === 0) {
    if (/^_.+_$/.test(name)) throw fail(expr, mixed(name, types[0]!, types[1]!));
    const on = target === undefined ? '' : `${describe(target.type)}.`;
    throw fail(expr, `There is no ${on}${spelled(name)}(${types.map(describe).join(', ')})`);
  }
  if (name === '_+_') rejectGrowth(call, fail);
  if (CONVERSIONS.has(name)) checkConversion(call, fail);
  return common(fitting.map((func) => func.result));
}

/**
 * Rejects concatenation with the variable of a macro, such as `x + x` in `list.map(x, x + x)`, because each nested
 * macro could double the length of the value. Allows the concatenation that a macro itself expands to, which appends an
 * item to the macro's accumulator.
 */
function rejectGrowth({ expr, args, variables }: Call, fail: Fail): void {
  if (args.every(({ type }) => isNumber(type))) return;
  const { exprKind } = args[0]!.expr;
  const isAccumulator = exprKind.case === 'identExpr' && /^@(?!value:)/.test(exprKind.value.name);
  const joins = args.some((arg) => identifiersIn(arg.expr).some((name) => variables.has(name)));
  if (joins && !isAccumulator) throw fail(expr, "+ on a macro's variable only adds numbers", 'FILTER_LIMIT');
}

const CONVERSIONS = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);

/**
 * Rejects a failing conversion of a constant, such as timestamp('2024-01-01') or timestamp(999999999999). The
 * conversion would fail for every event.
 */
function checkConversion({ expr, name, args }: Call, fail: Fail): void {
  const { exprKind } = args[0]!.expr;
  if (exprKind.case !== 'constExpr' || !isCelError(plan(environment, expr)({}))) return;
  throw fail(expr, `'${cut(String(exprKind.value.constantKind.value), 50)}' is not a ${name}`);
}
