/**
 * Resolves the names in a parsed filter and checks its types. CEL converts no types implicitly, so an expression with
 * the wrong types would fail for every event. Such a filter is rejected here, with the position of the error. Several
 * limits bound the cost of a hostile filter.
 */
import { CelScalar, type CelType, listType, mapType } from '@bufbuild/cel';
import {
  attributeOf,
  conjunctsOf,
  type Expr,
  type Kind,
  type Parsed,
  pathOf,
  presentKey,
  rootOf,
  valueKey,
} from './ast.ts';
import { type Call, resultType } from './calls.ts';
import { common, describe, isBool, isDyn, sameType } from './celTypes.ts';
import type { Checked, Fail, Items } from './checked.ts';
import { closest } from './closest.ts';
import { instructionsOf, itemsOf, MAX_ELEMENTS, sizeOf, walkOf, workOf } from './cost.ts';
import type { FilterError } from './errors.ts';
import { type AttributeType, type AttributeValue, CEL_TYPES } from './types.ts';

const MAX_DEPTH = 100;
/** The maximum number of steps in one evaluation, enough for 1,000 list elements with 100 steps each. */
const MAX_COST = 100_000;
/** The maximum size of one value, in characters, bytes, or items. */
const MAX_SIZE = 1_000_000;
/**
 * The maximum number of instructions in all compiled patterns (regular expressions) of a filter together. Patterns of
 * this size take up to half a second to compile.
 */
const MAX_INSTRUCTIONS = 4000;
/** The assumed length of a text attribute, because the actual length is not known here. */
const TEXT_SIZE = 100;
const MAX_LISTED = 20;

/** One of a filter's conditions. The filter is true if all its conditions are true. */
export interface Condition {
  expr: Expr;
  cost: number;
}

/**
 * Attributes that have the same value in every event that the filter tests. Null means that the attribute is absent
 * from each of these events. In the filter, constants replace the attributes that have a value.
 */
export type KnownValues = Readonly<Record<string, AttributeValue>>;

/** Checks a filter and splits it into conditions whose attributes are resolved (see `attributeOf`). */
export function checkFilter(
  parsed: Parsed,
  fail: Fail,
  attributes: Record<string, AttributeType>,
  known: KnownValues = {},
): Condition[] {
  const checker = new Checker(fail, attributes, known);
  const checked = checker.check(parsed.expr, { variables: new Map(), depth: 0 });
  if (!isBool(checked.type)) {
    throw fail(parsed.expr, `A filter must be true or false, and this is ${describe(checked.type)}`);
  }
  return conjunctsOf(checked.expr).map((expr) => ({ expr, cost: checker.costs.get(expr)! }));
}

interface Scope {
  /** The variables of the enclosing macros, such as `x` in `list.exists(x, …)`, and the macros' accumulators. */
  variables: ReadonlyMap<string, Variable>;
  depth: number;
}

type Variable = Pick<Checked, 'type' | 'size'>;

const { BOOL, BYTES, DOUBLE, DYN, INT, NULL, STRING, TYPE, UINT } = CelScalar;
const LIST = listType(DYN);
const TYPE_NAMES = new Set('bool bytes double int list map null_type string type uint'.split(' '));
const CONSTANT_TYPES: Partial<Record<string, CelType>> = {
  boolValue: BOOL,
  int64Value: INT,
  uint64Value: UINT,
  doubleValue: DOUBLE,
  stringValue: STRING,
  bytesValue: BYTES,
  nullValue: NULL,
};

class Checker {
  private readonly fail: Fail;
  private readonly attributes: Record<string, AttributeType>;
  private readonly known: KnownValues;
  private elements = 0;
  private instructions = 0;
  readonly costs = new Map<Expr, number>();

  constructor(fail: Fail, attributes: Record<string, AttributeType>, known: KnownValues) {
    this.fail = fail;
    this.attributes = attributes;
    this.known = known;
  }

  check(expr: Expr, outer: Scope): Checked {
    const scope = { ...outer, depth: outer.depth + 1 };
    this.limit(expr, scope.depth, MAX_DEPTH, `A filter nests at most ${MAX_DEPTH} deep`);
    const checked = this.checkKind(expr, scope);
    const { cost, size } = checked;
    const tooSlow = 'The filter takes too many steps: shorten its lists, texts and patterns';
    this.limit(expr, cost, MAX_COST, tooSlow);
    this.limit(expr, size, MAX_SIZE, 'The filter makes too long a text or list');
    this.costs.set(checked.expr, cost);
    return checked;
  }

  private limit(expr: Expr, value: number, most: number, message: string): void {
    if (value > most) throw this.fail(expr, message, 'FILTER_LIMIT');
  }

  private checkKind(expr: Expr, scope: Scope): Checked {
    switch (expr.exprKind.case) {
      case 'constExpr':
        return this.constant(expr, expr.exprKind.value);
      case 'identExpr':
        return this.identifier(expr, expr.exprKind.value.name, scope);
      case 'selectExpr':
        return this.select(expr, expr.exprKind.value, scope);
      case 'callExpr':
        return this.call(expr, expr.exprKind.value, scope);
      case 'listExpr':
        return this.list(expr, expr.exprKind.value, scope);
      case 'structExpr':
        return this.map(expr, expr.exprKind.value, scope);
      case 'comprehensionExpr':
        return this.comprehension(expr, expr.exprKind.value, scope);
      default:
        throw this.fail(expr, 'This expression is not supported');
    }
  }

  private constant(expr: Expr, constant: Kind<'constExpr'>): Checked {
    const { value } = constant.constantKind;
    const size = typeof value === 'string' || value instanceof Uint8Array ? value.length : 1;
    return { expr, type: this.constantType(expr, constant), cost: 1, size };
  }

  private constantType(expr: Expr, { constantKind }: Kind<'constExpr'>): CelType {
    const { case: kind, value } = constantKind;
    if (kind === 'int64Value' && BigInt.asIntN(64, value) !== value) {
      throw this.fail(expr, `${value} is beyond 64 bits`);
    }
    if (kind === 'uint64Value' && BigInt.asUintN(64, value) !== value) {
      throw this.fail(expr, `${value}u is beyond 64 bits`);
    }
    const type = CONSTANT_TYPES[kind ?? ''];
    if (type === undefined) throw this.fail(expr, 'This constant is not supported');
    return type;
  }

  private identifier(expr: Expr, name: string, scope: Scope): Checked {
    const variable = scope.variables.get(name);
    if (variable !== undefined) return { expr, ...variable, cost: 1 };
    const attribute = this.attributes[name];
    if (attribute !== undefined) return this.attribute(expr, name, attribute);
    if (TYPE_NAMES.has(name)) return { expr, type: TYPE, cost: 1, size: 1 };
    throw this.unknown(expr, name);
  }

  private attribute(expr: Expr, name: string, type: AttributeType): Checked {
    if (!Object.hasOwn(this.known, name)) return resolved(expr, valueKey(name), CEL_TYPES[type]);
    const value = this.known[name];
    if (value !== null && value !== undefined) {
      return { ...constant(expr, value as Constant, type), isPresent: true };
    }
    return { ...resolved(expr, ABSENT, CEL_TYPES[type]), isPresent: false };
  }

  private unknown(expr: Expr, name: string): FilterError {
    const names = Object.keys(this.attributes);
    const listed = names.slice(0, MAX_LISTED).join(', ') || 'none';
    const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : '';
    const message = `There is no attribute ${name}; there are: ${listed}${more}`;
    return this.fail(rootOf(expr), message, 'FILTER_ATTRIBUTE', closest(name, names));
  }

  /**
   * Checks `a.b`. If an attribute named "a.b" exists, `a.b` is this attribute. Otherwise, it is the member `b` of a map
   * `a`.
   */
  private select(expr: Expr, select: Kind<'selectExpr'>, scope: Scope): Checked {
    const path = pathOf(select);
    const isVariable = path !== undefined && scope.variables.has(path[0]!);
    const name = path?.join('.');
    const attribute = isVariable || name === undefined ? undefined : this.attributes[name];
    if (attribute !== undefined) {
      const value = this.attribute(expr, name!, attribute);
      if (!select.testOnly) return value;
      const { isPresent } = value;
      return isPresent === undefined ? resolved(expr, presentKey(name!), BOOL) : constant(expr, isPresent);
    }
    if (name !== undefined && !isVariable && this.attributes[path![0]!] === undefined) {
      throw this.unknown(expr, name);
    }
    const operand = this.check(select.operand!, scope);
    if (!isDyn(operand.type) && operand.type.kind !== 'map') {
      throw this.fail(expr, `A value of type ${describe(operand.type)} has no member ${select.field}`);
    }
    const type = select.testOnly ? BOOL : operand.type.kind === 'map' ? operand.type.value : DYN;
    const value = { ...select, operand: operand.expr };
    return {
      expr: { ...expr, exprKind: { case: 'selectExpr', value } },
      type,
      cost: operand.cost + 1,
      size: select.testOnly ? 1 : operand.size,
    };
  }

  private call(expr: Expr, call: Kind<'callExpr'>, scope: Scope): Checked {
    const nullTest = this.nullTest(expr, call, scope);
    if (nullTest !== undefined) return nullTest;
    const target = call.target && this.check(call.target, scope);
    const args = call.args.map((arg) => this.check(arg, scope));
    const whole: Call = { expr, name: call.function, target, args, variables: scope.variables };
    const type = resultType(whole, this.fail);
    const instructions = instructionsOf(whole, this.fail);
    this.instructions += instructions;
    const tooLarge = 'The patterns of a filter are too large together: use fewer or simpler ones';
    this.limit(expr, this.instructions, MAX_INSTRUCTIONS, tooLarge);
    const value = { ...call, args: args.map((arg) => arg.expr), ...(target && { target: target.expr }) };
    const operands = target ? [target, ...args] : args;
    const items = this.itemsOfCall(call.function, type, args);
    return {
      expr: { ...expr, exprKind: { case: 'callExpr', value } },
      type,
      cost: operands.reduce((sum, { cost }) => sum + cost, workOf(whole, instructions)),
      size: sizeOf(call.function, type, operands),
      ...(items && { items }),
    };
  }

  private itemsOfCall(name: string, type: CelType, args: Checked[]): Items | undefined {
    if (type.kind !== 'list' || (name !== '_+_' && name !== '_?_:_')) return undefined;
    const lists = args.slice(-2).map(itemsOf);
    return {
      count: lists.reduce((sum, { count }) => sum + count, 0),
      size: Math.max(...lists.map(({ size }) => size)),
    };
  }

  /**
   * Turns `attribute == null` and `attribute != null` into tests for absence and presence, because comparing an absent
   * value directly would fail. Throws if null is compared with a value that is never null. Returns undefined for other
   * calls.
   */
  private nullTest(expr: Expr, call: Kind<'callExpr'>, scope: Scope): Checked | undefined {
    if (call.function !== '_==_' && call.function !== '_!=_') return undefined;
    const isNull = ({ exprKind }: Expr) =>
      exprKind.case === 'constExpr' && exprKind.value.constantKind.case === 'nullValue';
    const other = call.args.find((arg) => !isNull(arg));
    if (other === undefined || !call.args.some(isNull)) return undefined;
    const checked = this.check(other, scope);
    if (checked.isPresent !== undefined) {
      return constant(expr, checked.isPresent === (call.function === '_!=_'));
    }
    const attribute = attributeOf(checked.expr);
    if (attribute === undefined || attribute.present) {
      if (isDyn(checked.type)) return undefined;
      throw this.fail(expr, `A value of type ${describe(checked.type)} is never null`);
    }
    const present = resolved(other, presentKey(attribute.name), BOOL);
    if (call.function === '_!=_') return present;
    const value = { ...call, function: '!_', args: [present.expr] };
    return { expr: { ...expr, exprKind: { case: 'callExpr', value } }, type: BOOL, cost: 2, size: 1 };
  }

  private list(expr: Expr, list: Kind<'listExpr'>, scope: Scope): Checked {
    this.countElements(expr, list.elements.length);
    const elements = list.elements.map((element) => this.check(element, scope));
    const value = { ...list, elements: elements.map((element) => element.expr) };
    return {
      expr: { ...expr, exprKind: { case: 'listExpr', value } },
      type: listType(common(elements.map((element) => element.type))),
      cost: elements.reduce((sum, element) => sum + element.cost, 1),
      size: elements.reduce((sum, element) => sum + element.size + 1, 0),
      items: { count: elements.length, size: Math.max(0, ...elements.map((element) => element.size)) },
    };
  }

  private map(expr: Expr, struct: Kind<'structExpr'>, scope: Scope): Checked {
    if (struct.messageName !== '') throw this.fail(expr, 'A filter cannot build messages');
    this.countElements(expr, struct.entries.length);
    const checked = struct.entries.map((entry) => {
      if (entry.keyKind.case !== 'mapKey') throw this.fail(expr, 'This map is not supported');
      return { entry, key: this.check(entry.keyKind.value, scope), value: this.check(entry.value!, scope) };
    });
    const entries = checked.map(({ entry, key, value }) => ({
      ...entry,
      keyKind: { case: 'mapKey' as const, value: key.expr },
      value: value.expr,
    }));
    return {
      expr: { ...expr, exprKind: { case: 'structExpr', value: { ...struct, entries } } },
      type: mapType(DYN, common(checked.map(({ value }) => value.type))),
      cost: checked.reduce((sum, { key, value }) => sum + key.cost + value.cost, 1),
      size: checked.reduce((sum, { key, value }) => sum + key.size + value.size + 1, 0),
    };
  }

  private countElements(expr: Expr, count: number): void {
    this.elements += count;
    const message = `The lists of a filter have at most ${MAX_ELEMENTS} elements together`;
    this.limit(expr, this.elements, MAX_ELEMENTS, message);
  }

  /** Checks a comprehension. The macros `all`, `exists`, `exists_one`, `filter`, and `map` expand to comprehensions. */
  private comprehension(expr: Expr, fold: Kind<'comprehensionExpr'>, scope: Scope): Checked {
    const range = this.check(fold.iterRange!, scope);
    const { type } = range;
    if (!isDyn(type) && type.kind !== 'list' && type.kind !== 'map') {
      throw this.fail(expr, `A macro goes over a list or a map, and this is ${describe(type)}`);
    }
    const start = this.check(fold.accuInit!, scope);
    const accumulated = start.type.kind === 'list' ? LIST : start.type;
    const item = type.kind === 'list' ? type.element : type.kind === 'map' ? type.key : DYN;
    const within = (variables: [string, Variable][]) => ({
      ...scope,
      variables: new Map([...scope.variables, ...variables]),
    });
    const items = itemsOf(range);
    // Set the accumulated value's size to 0 here, so that `step.size` is only the size that one step adds. `total` is
    // the size after all steps.
    const inner = within([
      [fold.accuVar, { type: accumulated, size: 0 }],
      [fold.iterVar, { type: item, size: items.size }],
    ]);
    const condition = this.check(fold.loopCondition!, inner);
    const step = this.check(fold.loopStep!, inner);
    const built = { count: items.count, size: itemsOf(step).size };
    const total = start.size + items.count * step.size;
    const result = this.check(fold.result!, within([[fold.accuVar, { type: accumulated, size: total }]]));
    const value = {
      ...fold,
      iterRange: range.expr,
      accuInit: start.expr,
      loopCondition: condition.expr,
      loopStep: step.expr,
      result: result.expr,
    };
    const turns = items.count * (condition.cost + step.cost);
    return {
      expr: { ...expr, exprKind: { case: 'comprehensionExpr', value } },
      type: result.type,
      cost: range.cost + walkOf(range) + start.cost + turns + result.cost,
      size: result.size,
      ...(result.type.kind === 'list' && { items: built }),
    };
  }
}

/**
 * The identifier that replaces an attribute that is known to be absent. This identifier has no value, so an expression
 * that uses it fails, as for any absent attribute.
 */
const ABSENT = '@absent';

type Constant = string | bigint | number | boolean;
const CONSTANTS = {
  string: ['stringValue', STRING],
  int: ['int64Value', INT],
  double: ['doubleValue', DOUBLE],
  bool: ['boolValue', BOOL],
} as const;

function constant(expr: Expr, value: Constant, type: AttributeType = 'bool'): Checked {
  const [kind, celType] = CONSTANTS[type as keyof typeof CONSTANTS];
  const constantKind = { case: kind, value } as Kind<'constExpr'>['constantKind'];
  const written = { $typeName: 'cel.expr.Constant' as const, constantKind };
  const size = typeof value === 'string' ? value.length : 1;
  return { expr: { ...expr, exprKind: { case: 'constExpr', value: written } }, type: celType, cost: 1, size };
}

function resolved(expr: Expr, name: string, type: CelType): Checked {
  const value = { $typeName: 'cel.expr.Expr.Ident' as const, name };
  const size = sameType(type, STRING) ? TEXT_SIZE : 1;
  return { expr: { ...expr, exprKind: { case: 'identExpr', value } }, type, cost: 1, size };
}
