import type { Fix, Problem } from './problems.ts';

/** The numbers of characters of a long line to show before and after the problem. A `^` below the line marks it. */
const BEFORE = 40;
const AFTER = 40;
/** A filter up to this length fits in one line, even on a phone. */
const SHORT = 32;

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

/**
 * Returns the text around the column, and the position of the `^` below the text. Returns no text for a short filter,
 * because the filter itself is shown directly above the `^`.
 */
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
