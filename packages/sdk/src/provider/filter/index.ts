/** Checks and evaluates CEL filters over event attributes, and translates them to SQL if possible. */
import { type CelError, type CelInput, plan } from '@bufbuild/cel';
import { attributesIn, presentKey, usesAttributes, valueKey } from '../../filters/ast.ts';
import { type Condition, checkFilter, type KnownValues } from '../../filters/check.ts';
import { environment } from '../../filters/environment.ts';
import { parseFilter } from '../../filters/parse.ts';
import { isPersonAttribute } from '../../filters/person.ts';
import { type AttributeType, type AttributeValue, celValueOf } from '../../filters/types.ts';
import type { Dialect } from './dialect.ts';
import { type Sql, type SqlContext, toSql } from './sql.ts';

export interface Filter {
  /** The attributes that the filter depends on. */
  readonly attributes: readonly string[];
  /** An upper bound on the number of steps that `matches` takes. */
  readonly cost: number;
  /** Returns whether the filter is true. A filter that fails (absent attribute, overflow) counts as false. */
  matches(values: Readonly<Record<string, AttributeValue>>): boolean;
  /**
   * Splits the filter's conditions into those that use only attributes of people, those that mix attributes of people
   * and events, and all others. An event matches if all three parts are true.
   */
  byAttributes(): Record<'people' | 'mixed' | 'events', Filter | undefined>;
  /** Splits the filter into a part for SQL and a part for CEL (`rest`). An event matches if both parts are true. */
  pushDown(dialect: Dialect): {
    sql: ((context: SqlContext) => string) | undefined;
    rest: Filter | undefined;
  };
}

/**
 * The maximum number of SQL operations in one condition. The engine allocates a buffer for each operation, and its
 * memory limit does not include these buffers.
 */
const MAX_SQL_COST = 2000;

/**
 * Parses a CEL expression and checks it against the attributes. Throws FilterError if the expression is not valid. The
 * attributes in `values` become constants.
 */
export function compileFilter(
  expression: string,
  attributes: Record<string, AttributeType>,
  values?: KnownValues,
): Filter {
  const known: Record<string, AttributeType> = Object.assign(Object.create(null), attributes);
  return filterOf(checkFilter(...parseFilter(expression), known, values), known);
}

type Kind = 'people' | 'mixed' | 'events';

function kindOf({ expr }: Condition): Kind {
  const attributes = attributesIn(expr);
  if (!attributes.some(isPersonAttribute)) return 'events';
  return attributes.every(isPersonAttribute) ? 'people' : 'mixed';
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
    byAttributes() {
      const of = (kind: Kind) => {
        const some = conditions.filter((condition) => kindOf(condition) === kind);
        return some.length === 0 ? undefined : filterOf(some, attributes);
      };
      return { people: of('people'), mixed: of('mixed'), events: of('events') };
    },
    pushDown(dialect) {
      const mapped: Sql[] = [];
      const left: Condition[] = [];
      for (const condition of conditions) {
        // A condition without attributes costs nothing in SQL, because `toSql` evaluates it and writes only its value.
        const fits = condition.cost <= MAX_SQL_COST || !usesAttributes(condition.expr);
        const sql = fits ? toSql(condition.expr, { dialect, attributes }) : undefined;
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
