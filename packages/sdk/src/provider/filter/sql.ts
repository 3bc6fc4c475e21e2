/**
 * Translates a checked filter to equivalent SQL that never makes the engine fail. Where CEL gives an error, the SQL gives
 * NULL. CEL's && and || treat errors in the same way as AND and OR treat NULL. An event matches only if the filter is true.
 */
import { type CelResult, isCelError, isCelUint, plan } from '@bufbuild/cel';
import { isReflectMessage } from '@bufbuild/protobuf/reflect';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { attributeOf, type Expr, usesAttributes } from '../../filters/ast.ts';
import { environment } from '../../filters/environment.ts';
import type { AttributeType } from '../../filters/types.ts';

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

export function toSql(expr: Expr, attributes: Record<string, AttributeType>): Sql | undefined {
  const attribute = attributeOf(expr);
  if (attribute?.present) {
    return { type: 'bool', write: (context) => `(${context.attribute(attribute.name)} IS NOT NULL)` };
  }
  if (attribute !== undefined) {
    const type = attributes[attribute.name]!;
    return { type, atom: true, write: (context) => context.attribute(attribute.name) };
  }
  if (!usesAttributes(expr)) return constant(expr);
  if (expr.exprKind.case !== 'callExpr') return undefined;
  const { function: name, target, args } = expr.exprKind.value;
  const operands = target === undefined ? args : [target, ...args];
  if (name === '@in') return membership(operands, attributes);
  const parts = operands.map((operand) => toSql(operand, attributes));
  return parts.every((part) => part !== undefined) ? RULES[name]?.(parts, name) : undefined;
}

/** Evaluates an expression that uses no attributes, and returns its value as an SQL constant. */
function constant(expr: Expr): Sql | undefined {
  const value = plan(environment, expr)({});
  if (isCelError(value)) return { type: 'bool', write: () => 'CAST(NULL AS BOOLEAN)' };
  const literal = literalOf(value);
  return literal && { ...literal, atom: true, write: ({ bind }) => bind(literal.value, literal.type) };
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

type Rule = (parts: Sql[], name: string) => Sql | undefined;
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
  (operator: string): Rule =>
  (parts) => {
    if (!all(parts, 'string', 'int', 'uint', 'bool', 'timestamp', 'double')) return undefined;
    if (parts[0]!.type === 'double') {
      return parts.every(({ atom }) => atom)
        ? of('bool', parts, (a, b) => compareDoubles(a, operator, b))
        : undefined;
    }
    return of('bool', parts, (a, b) => `${a} ${operator} ${b}`);
  };

/** DuckDB treats NaN as equal to itself and above all numbers. In CEL, every comparison with NaN is false. */
const compareDoubles = (a: string, operator: string, b: string) =>
  `CASE WHEN isnan(${a}) OR isnan(${b}) THEN nullif(${a} IS NULL OR ${b} IS NULL, true) ELSE ${a} ${operator} ${b} END`;

/** An overflow is an error in CEL, so TRY turns it into NULL here. */
const arithmetic =
  (operator: string): Rule =>
  (parts) =>
    all(parts, 'int', 'uint') ? of(parts[0]!.type, parts, (a, b) => `TRY(${a} ${operator} ${b})`) : undefined;

const text =
  (type: AttributeType, write: (...parts: string[]) => string): Rule =>
  (parts) =>
    all(parts, 'string') ? of(type, parts, write) : undefined;

const equal = comparison('=');
const not = logic((a) => `NOT ${a}`);

const RULES: Readonly<Record<string, Rule>> = {
  '_&&_': logic((...parts) => parts.join(' AND ')),
  '_||_': logic((...parts) => parts.join(' OR ')),
  '!_': not,
  '_==_': equal,
  '_!=_': (parts, name) => {
    const same = equal(parts, name);
    return same && not([same], name);
  },
  '_<_': comparison('<'),
  '_<=_': comparison('<='),
  '_>_': comparison('>'),
  '_>=_': comparison('>='),
  // `+` is translated only for numbers. Concatenated text could use unlimited memory, because the engine does not limit it.
  '_+_': arithmetic('+'),
  '_-_': arithmetic('-'),
  '_*_': arithmetic('*'),
  '_/_': arithmetic('//'),
  '-_': (parts) => (all(parts, 'int') ? of('int', parts, (a) => `TRY(-${a})`) : undefined),
  '_?_:_': ([condition, yes, no]) => {
    if (condition!.type !== 'bool' || yes!.type !== no!.type) return undefined;
    return of(
      yes!.type,
      [condition!, yes!, no!],
      (c, a, b) => `CASE ${c} WHEN true THEN ${a} WHEN false THEN ${b} END`,
    );
  },
  startsWith: text('bool', (a, b) => `starts_with(${a}, ${b})`),
  endsWith: text('bool', (a, b) => `suffix(${a}, ${b})`),
  contains: text('bool', (a, b) => `contains(${a}, ${b})`),
  size: text('int', (a) => `length(${a})`),
};

/** Translates `in` only for lists of constants, because an element that fails makes the test fail in CEL but not in SQL. */
function membership([element, list]: Expr[], attributes: Record<string, AttributeType>): Sql | undefined {
  const tested = toSql(element!, attributes);
  if (tested === undefined || list!.exprKind.case !== 'listExpr' || usesAttributes(list!)) return undefined;
  const literals: Literal[] = [];
  for (const candidate of list!.exprKind.value.elements) {
    const literal = literalOf(plan(environment, candidate)({}));
    if (literal?.type !== tested.type || Number.isNaN(literal.value)) return undefined;
    literals.push(literal);
  }
  return {
    type: 'bool',
    write: (context) => {
      const value = tested.write(context);
      // For an empty list, the test is false, or NULL if the value is absent.
      if (literals.length === 0) return `nullif(${value} IS NULL, true)`;
      return `(${value} IN (${literals.map((literal) => context.bind(literal.value, literal.type)).join(', ')}))`;
    },
  };
}
