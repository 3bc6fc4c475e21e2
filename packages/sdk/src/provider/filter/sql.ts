/**
 * Translates a checked filter to SQL that never makes the engine fail. Where CEL gives an error, the SQL gives NULL:
 * AND and OR treat NULL in the same way as CEL's && and || treat errors. An event matches only if the filter is true.
 */
import { type CelResult, isCelError, isCelUint, plan } from '@bufbuild/cel';
import { isReflectMessage } from '@bufbuild/protobuf/reflect';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { attributeOf, type Expr, usesAttributes } from '../../filters/ast.ts';
import { environment } from '../../filters/environment.ts';
import type { AttributeType } from '../../filters/types.ts';
import type { Comparison, Dialect, SqlFunction } from './dialect.ts';

export interface SqlContext {
  attribute(name: string): string;
  /** Binds a constant and returns its placeholder. A timestamp is in microseconds since 1970. */
  bind(value: string | bigint | number | boolean, type: AttributeType): string;
}

export interface Sql {
  type: AttributeType;
  /** Set for an attribute or a constant, which is short enough to be written more than once. */
  atom?: true;
  write(context: SqlContext): string;
}

/** The dialect to write, and the attributes that the filter may use. */
export interface Target {
  dialect: Dialect;
  attributes: Record<string, AttributeType>;
}

/** Translates an expression. Returns undefined if the dialect has no equivalent. CEL then evaluates the expression. */
export function toSql(expr: Expr, target: Target): Sql | undefined {
  const attribute = attributeOf(expr);
  if (attribute?.present) {
    return { type: 'bool', write: (context) => `(${context.attribute(attribute.name)} IS NOT NULL)` };
  }
  if (attribute !== undefined) {
    const type = target.attributes[attribute.name]!;
    return { type, atom: true, write: (context) => context.attribute(attribute.name) };
  }
  if (!usesAttributes(expr)) return constant(expr, target.dialect);
  if (expr.exprKind.case !== 'callExpr') return undefined;
  const { function: name, target: receiver, args } = expr.exprKind.value;
  const operands = receiver === undefined ? args : [receiver, ...args];
  if (name === '@in') return membership(operands, target);
  const parts = operands.map((operand) => toSql(operand, target));
  if (!parts.every((part) => part !== undefined)) return undefined;
  const { dialect } = target;
  const called = dialect.functions[name];
  return called ? call(called, parts) : RULES[name]?.(parts, dialect);
}

/** Evaluates an expression that uses no attributes, and returns its value as an SQL constant. */
function constant(expr: Expr, dialect: Dialect): Sql | undefined {
  const value = plan(environment, expr)({});
  if (isCelError(value)) return { type: 'bool', write: () => dialect.unknown };
  const literal = literalOf(value);
  if (literal === undefined || !dialect.canBind(literal.value, literal.type)) return undefined;
  return { type: literal.type, atom: true, write: ({ bind }) => bind(literal.value, literal.type) };
}

interface Literal {
  type: AttributeType;
  value: string | bigint | number | boolean;
}

function literalOf(value: CelResult): Literal | undefined {
  if (isCelUint(value)) return { type: 'uint', value: value.value };
  if (isReflectMessage(value, TimestampSchema)) {
    const { seconds, nanos } = value.message as Timestamp;
    if (nanos % 1000 !== 0) return undefined;
    return { type: 'timestamp', value: seconds * 1_000_000n + BigInt(nanos / 1000) };
  }
  const type = LITERALS[typeof value];
  return type && { type, value: value as Literal['value'] };
}

const LITERALS: Record<string, AttributeType> = {
  string: 'string',
  bigint: 'int',
  number: 'double',
  boolean: 'bool',
};

type Rule = (parts: Sql[], dialect: Dialect) => Sql | undefined;
const all = (parts: Sql[], ...types: AttributeType[]) =>
  parts.every(({ type }) => type === parts[0]!.type && types.includes(type));
const of = (type: AttributeType, parts: Sql[], write: (...parts: string[]) => string): Sql => ({
  type,
  write: (context) => `(${write(...parts.map((part) => part.write(context)))})`,
});

const logic =
  (write: (...parts: string[]) => string): Rule =>
  (parts) =>
    all(parts, 'bool') ? of('bool', parts, write) : undefined;

const comparison =
  (operator: Comparison): Rule =>
  (parts, dialect) => {
    const { type } = parts[0]!;
    if (!all(parts, 'string', 'int', 'uint', 'bool', 'timestamp', 'double')) return undefined;
    // A dialect may write each operand of type double several times. Translate only short operands: attributes and
    // constants.
    if (type === 'double' && !parts.every(({ atom }) => atom)) return undefined;
    return of('bool', parts, (a, b) => dialect.compare(type, a!, operator, b!));
  };

const arithmetic =
  (operator: '+' | '-' | '*' | '/'): Rule =>
  (parts, { arithmetic }) =>
    arithmetic && all(parts, 'int', 'uint')
      ? of(parts[0]!.type, parts, (a, b) => arithmetic.binary(operator, a!, b!))
      : undefined;

const call = ({ takes, gives, write }: SqlFunction, parts: Sql[]) =>
  parts.map(({ type }) => type).join() === takes.join() ? of(gives, parts, write) : undefined;

const equal = comparison('=');
const not = logic((a) => `NOT ${a}`);

const RULES: Readonly<Record<string, Rule>> = {
  '_&&_': logic((...parts) => parts.join(' AND ')),
  '_||_': logic((...parts) => parts.join(' OR ')),
  '!_': not,
  '_==_': equal,
  '_!=_': (parts, dialect) => {
    const same = equal(parts, dialect);
    return same && not([same], dialect);
  },
  '_<_': comparison('<'),
  '_<=_': comparison('<='),
  '_>_': comparison('>'),
  '_>=_': comparison('>='),
  // `+` is not translated for text, because the engine does not limit the length of concatenated text.
  '_+_': arithmetic('+'),
  '_-_': arithmetic('-'),
  '_*_': arithmetic('*'),
  '_/_': arithmetic('/'),
  '-_': (parts, { arithmetic }) =>
    arithmetic && all(parts, 'int') ? of('int', parts, (a) => arithmetic.negate(a!)) : undefined,
  '_?_:_': ([condition, yes, no], dialect) => {
    if (condition!.type !== 'bool' || yes!.type !== no!.type) return undefined;
    return of(yes!.type, [condition!, yes!, no!], (c, a, b) => dialect.choose(c!, a!, b!));
  },
};

/**
 * Translates `in` only for lists of constants. Returns undefined if an element gives an error, because only CEL handles
 * such an error correctly.
 */
function membership([element, list]: Expr[], target: Target): Sql | undefined {
  const { dialect } = target;
  const tested = toSql(element!, target);
  if (tested === undefined || list!.exprKind.case !== 'listExpr' || usesAttributes(list!)) return undefined;
  const literals: Literal[] = [];
  for (const candidate of list!.exprKind.value.elements) {
    const literal = literalOf(plan(environment, candidate)({}));
    if (literal?.type !== tested.type || Number.isNaN(literal.value)) return undefined;
    if (!dialect.canBind(literal.value, literal.type)) return undefined;
    literals.push(literal);
  }
  return {
    type: 'bool',
    write: (context) => {
      const value = tested.write(context);
      if (literals.length === 0) return `(${dialect.falseIfPresent(value)})`;
      const constants = literals.map((literal) => context.bind(literal.value, literal.type));
      return `(${dialect.isOneOf(tested.type, value, constants)})`;
    },
  };
}
