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

/** Parses a number with commas between thousands. Empty text is not a number. */
const numberOf = (text: string) => (text.trim() === '' ? Number.NaN : Number(text.replaceAll(',', '')));

function rule(min: number | undefined, max: number | undefined, whole: boolean): string {
  const kind = whole ? 'a whole number' : 'a number';
  if (min !== undefined && max !== undefined) return `Write ${kind} from ${min} to ${max}.`;
  return min === undefined ? `Write ${kind}.` : `Write ${kind} of at least ${min}.`;
}
