import type { Fix, Problem } from './problems.ts';

/** As much of a long line is shown before the caret. */
const BEFORE = 40;
const AFTER = 24;

/** Shows where the problem is, what it is, and a button that mends it. */
export function ProblemNote({
  id,
  text,
  problem: { message, line, column, fix },
  onFix,
}: {
  id: string;
  text: string;
  problem: Problem;
  onFix: (fix: Fix) => void;
}) {
  const place = line === undefined || column === undefined ? undefined : excerpt(text, line, column);
  return (
    <div className="ed-problem" id={id} role="alert">
      {place && (
        <pre className="ptr" aria-hidden="true">
          {place.text}
          {'\n'}
          {' '.repeat(place.caret)}^
        </pre>
      )}
      <span className="msg">
        <span>
          {line !== undefined && `Line ${line}, column ${column}: `}
          {message}
        </span>
        {fix && (
          <button type="button" className="btn sm" onClick={() => onFix(fix)}>
            {fix.label}
          </button>
        )}
      </span>
    </div>
  );
}

/** Returns the part of the line around the column. */
export function excerpt(text: string, line: number, column: number): { text: string; caret: number } {
  const whole = text.split('\n')[line - 1] ?? '';
  const start = Math.max(0, column - 1 - BEFORE);
  const cutBefore = start > 0 ? '…' : '';
  const cutAfter = whole.length > column - 1 + AFTER ? '…' : '';
  return {
    text: `${cutBefore}${whole.slice(start, column - 1 + AFTER)}${cutAfter}`,
    caret: column - 1 - start + cutBefore.length,
  };
}
