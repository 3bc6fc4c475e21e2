import { offsetOf, type Problem } from './problems.ts';
import { tokensOf } from './tokens.ts';

const CLASSES = { name: 'at', text: 'st', number: 'st', operator: 'op', space: undefined };

export function Highlighted({ text, problem }: { text: string; problem: Problem | undefined }) {
  const { line, column } = problem ?? {};
  const wrong = line === undefined || column === undefined ? -1 : offsetOf(text, { line, column });
  return (
    <pre aria-hidden="true">
      {tokensOf(text).map(({ kind, text, start, end }) => (
        <span key={start} className={start <= wrong && wrong < end ? 'er' : CLASSES[kind]}>
          {text}
        </span>
      ))}
      {/* The zero-width space gives the last line a height, even if the line is empty. */}
      {'\u200b'}
    </pre>
  );
}
