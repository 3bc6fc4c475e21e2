import { useId, useState } from 'react';

/** A field for a number. The value stays the same while the text is not a valid number. */
export function NumberField({
  label,
  value,
  onValue,
  hint,
  min,
  max,
  whole = false,
}: {
  label: string;
  value: number;
  onValue: (value: number) => void;
  hint?: string;
  min?: number;
  max?: number;
  whole?: boolean;
}) {
  const id = useId();
  const [text, setText] = useState<string>();
  const isValid = (value: number) =>
    Number.isFinite(value) &&
    value >= (min ?? value) &&
    value <= (max ?? value) &&
    (!whole || Number.isInteger(value));
  const isWrong = text !== undefined && !isValid(numberOf(text));
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        className="in"
        id={id}
        inputMode="decimal"
        autoComplete="off"
        value={text ?? String(value)}
        aria-invalid={isWrong}
        aria-describedby={`${id}-hint`}
        onChange={({ target }) => {
          setText(target.value);
          if (isValid(numberOf(target.value))) onValue(numberOf(target.value));
        }}
        onBlur={() => setText(undefined)}
      />
      <span className={isWrong ? 'xs bad' : 'hint'} id={`${id}-hint`}>
        {isWrong ? rule(min, max, whole) : hint}
      </span>
    </div>
  );
}

/** Matches commas that separate thousands, as in 1,000.5. */
const THOUSANDS = /^-?\d{1,3}(,\d{3})+(\.\d*)?$/;

/** Parses a number, which may have commas between thousands. Empty text and a decimal comma are not numbers. */
function numberOf(text: string): number {
  const plain = text.trim();
  if (plain === '') return Number.NaN;
  return Number(THOUSANDS.test(plain) ? plain.replaceAll(',', '') : plain);
}

function rule(min: number | undefined, max: number | undefined, whole: boolean): string {
  const kind = whole ? 'a whole number' : 'a number';
  if (min !== undefined && max !== undefined) return `Write ${kind} from ${min} to ${max}.`;
  return min === undefined ? `Write ${kind}.` : `Write ${kind} of at least ${min}.`;
}
