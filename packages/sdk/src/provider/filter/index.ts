/** Checks and evaluates CEL filters over event attributes, and translates them to SQL if possible. */
import { type CelError, type CelInput, parse, plan } from '@bufbuild/cel';
import { cut } from '@measurement-exchange/contract';
import { attributesIn, presentKey, usesAttributes, valueKey } from './ast.ts';
import { type Condition, checkFilter } from './check.ts';
import type { Fail } from './checked.ts';
import { environment } from './environment.ts';
import { FilterError } from './errors.ts';
import { type Sql, type SqlContext, toSql } from './sql.ts';
import { type AttributeType, type AttributeValue, celValueOf } from './types.ts';

export interface Filter {
  /** The attributes that the filter depends on. */
  readonly attributes: readonly string[];
  /** An upper bound on the number of steps that `matches` takes. */
  readonly cost: number;
  /** Returns whether the filter is true. A filter that fails (absent attribute, overflow) counts as false. */
  matches(values: Readonly<Record<string, AttributeValue>>): boolean;
  /** Splits the filter into a part for SQL and a rest for CEL. An event matches if both are true. */
  pushDown(): { sql: ((context: SqlContext) => string) | undefined; rest: Filter | undefined };
}

const MAX_BRACKETS = 200;
const MAX_SIGNS = 8000;
/**
 * The characters that count toward MAX_SIGNS. They include spaces, because the parser may read a long run of spaces many
 * times.
 */
const SIGN = /\W/;
/**
 * The maximum number of SQL operations in one condition. The engine allocates a buffer for each operation, and its memory
 * limit does not include these buffers.
 */
const MAX_SQL_COST = 2000;

/** Parses a CEL expression and checks it against the attributes. Throws FilterError if it is not valid. */
export function compileFilter(expression: string, attributes: Record<string, AttributeType>): Filter {
  const known: Record<string, AttributeType> = Object.assign(Object.create(null), attributes);
  return filterOf(checkFilter(...parsed(expression), known), known);
}

function parsed(expression: string): [ReturnType<typeof parse>, Fail] {
  if (!expression.isWellFormed()) throw new FilterError('FILTER_SYNTAX', 'The filter is not valid Unicode');
  requireShort(expression);
  try {
    const result = parse(expression);
    const positions = result.sourceInfo?.positions ?? {};
    return [
      result,
      (at, message, code = 'FILTER_TYPE') =>
        new FilterError(code, message, positionOf(expression, positions[at.id.toString()] ?? 0)),
    ];
  } catch (error) {
    throw notCel(error);
  }
}

const tooDeep = () => new FilterError('FILTER_LIMIT', 'The filter nests too deep');

/** Rejects expressions that would take long to parse, because they nest deeply or have many operators and spaces. */
function requireShort(expression: string): void {
  let [quote, depth, signs] = ['', 0, 0];
  for (let i = 0; i < expression.length; i++) {
    const character = expression[i]!;
    if (quote !== '') {
      if (character === '\\') i++;
      else if (character === quote) quote = '';
    } else if (character === "'" || character === '"') quote = character;
    else if (SIGN.test(character)) {
      signs++;
      depth += Number('([{'.includes(character)) - Number(')]}'.includes(character));
      if (depth > MAX_BRACKETS) throw tooDeep();
      if (signs > MAX_SIGNS)
        throw new FilterError('FILTER_LIMIT', 'The filter has too many operators and spaces');
    }
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

/** Creates a filter that is true if all its conditions are true. */
function filterOf(conditions: Condition[], attributes: Record<string, AttributeType>): Filter {
  const used = [...new Set(conditions.flatMap(({ expr }) => attributesIn(expr)))];
  const tests = conditions.map(({ expr }) => plan(environment, expr));
  return {
    attributes: used,
    cost: conditions.reduce((sum, { cost }) => sum + cost, 0),
    matches(values) {
      const bindings: Record<string, CelInput | CelError> = Object.create(null);
      for (const name of used) {
        const value = Object.hasOwn(values, name) ? values[name] : undefined;
        bindings[valueKey(name)] = celValueOf(attributes[name]!, value);
        bindings[presentKey(name)] = value !== null && value !== undefined;
      }
      return tests.every((test) => test(bindings as Record<string, CelInput>) === true);
    },
    pushDown() {
      const mapped: Sql[] = [];
      const left: Condition[] = [];
      for (const condition of conditions) {
        // A condition without attributes costs nothing in SQL, because CEL evaluates it here, once.
        const fits = condition.cost <= MAX_SQL_COST || !usesAttributes(condition.expr);
        const sql = fits ? toSql(condition.expr, attributes) : undefined;
        if (sql?.type === 'bool') mapped.push(sql);
        else left.push(condition);
      }
      return {
        sql:
          mapped.length === 0
            ? undefined
            : (context) => mapped.map((sql) => sql.write(context)).join(' AND '),
        rest: left.length === 0 ? undefined : filterOf(left, attributes),
      };
    },
  };
}
