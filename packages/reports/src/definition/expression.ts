/**
 * Set expressions, which consist of names, `|`, `&`, `-`, and parentheses. No operator takes precedence, so an
 * expression that mixes operators needs parentheses.
 */
export type Expression =
  | { name: string; operator?: never }
  | { operator: '|' | '&' | '-'; left: Expression; right: Expression };

export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

const TOKEN = /\s*(?:([A-Za-z][A-Za-z0-9_]*)|([|&\-()]))/y;
const MAX_DEPTH = 100;

export function parseExpression(text: string): Expression {
  const tokens = tokensOf(text);
  let at = 0;
  const fail = (wanted: string): never => {
    throw new ExpressionError(`has ${tokens[at] ?? 'its end'} where ${wanted} must be, in ${text}`);
  };
  const operand = (depth: number): Expression => {
    if (depth > MAX_DEPTH) throw new ExpressionError(`has more than ${MAX_DEPTH} nested parentheses`);
    const token = tokens[at];
    if (token === '(') {
      at++;
      const inner = sequence(depth + 1);
      if (tokens[at] !== ')') fail('a closing parenthesis');
      at++;
      return inner;
    }
    if (token === undefined || /^[|&\-)]$/.test(token)) return fail('a name');
    at++;
    return { name: token };
  };
  const sequence = (depth: number): Expression => {
    let left = operand(depth);
    const operator = tokens[at];
    while (tokens[at] === '|' || tokens[at] === '&' || tokens[at] === '-') {
      if (tokens[at] !== operator) {
        throw new ExpressionError(`mixes ${operator} and ${tokens[at]} without parentheses, in ${text}`);
      }
      at++;
      left = { operator: operator as '|', left, right: operand(depth) };
    }
    return left;
  };
  const expression = sequence(0);
  if (at < tokens.length) fail('an operator');
  return expression;
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (;;) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) {
      const rest = text.slice(from).trim();
      if (rest === '') return tokens;
      throw new ExpressionError(
        `has "${rest[0]}", which is not part of a set: use names, |, &, - and parentheses`,
      );
    }
    tokens.push(match[1] ?? match[2]!);
  }
}

export function namesIn(expression: Expression): string[] {
  if (expression.operator === undefined) return [expression.name];
  return [...new Set([...namesIn(expression.left), ...namesIn(expression.right)])];
}
