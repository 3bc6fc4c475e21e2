import type { Fix, Problem } from './problems.ts';

/** As much of a long line is shown before the caret. */
const BEFORE = 40;
const AFTER = 40;
/** A filter of this length fits in one line, also on a phone. */
const SHORT = 32;

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
        <pre className={place.line === '' ? 'ptr near' : 'ptr'} aria-hidden="true">
          {place.line}
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

/** The line around the column, or nothing if the filter itself is right above the caret. */
export function excerpt(text: string, line: number, column: number): { line: string; caret: number } {
  if (text.length <= SHORT && !text.includes('\n')) return { line: '', caret: column - 1 };
  const whole = text.split('\n')[line - 1] ?? '';
  const start = Math.max(0, column - 1 - BEFORE);
  const cutBefore = start > 0 ? '…' : '';
  const cutAfter = whole.length > column - 1 + AFTER ? '…' : '';
  return {
    line: `${cutBefore}${whole.slice(start, column - 1 + AFTER)}${cutAfter}\n`,
    caret: column - 1 - start + cutBefore.length,
  };
}
