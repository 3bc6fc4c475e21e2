/** A text area over a layer that shows the same text in color, with a list of completions below. */
import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import type { Publisher } from '../../../parts/Publisher.tsx';
import type { OfferedAttribute } from './attributes.ts';
import { CompletionList } from './CompletionList.tsx';
import { type Completion, completionsAt } from './completion.ts';
import { Highlighted } from './Highlighted.tsx';
import { ProblemNote } from './ProblemNote.tsx';
import type { Problem } from './problems.ts';
import { useDelayed } from './useDelayed.ts';

export function FilterField({
  value,
  onChange,
  attributes,
  publishers,
  problem,
}: {
  value: string;
  onChange: (value: string) => void;
  attributes: readonly OfferedAttribute[];
  publishers: readonly Publisher[];
  problem: Problem | undefined;
}) {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const [caret, setCaret] = useState(0);
  const [isOpen, setOpen] = useState(false);
  // Tab accepts a completion only after typing or choosing, so that it can also leave the field.
  const [isTyping, setTyping] = useState(false);
  const [chosen, setChosen] = useState(0);
  const [moveTo, setMoveTo] = useState<number>();
  const { from, to, items } = completionsAt(value, caret, attributes);
  const shown = isOpen ? items : [];
  const selected = Math.min(chosen, shown.length - 1);
  // Show a problem only after a pause, because a filter is usually incomplete while the user types.
  const visible = useDelayed(problem, problem && isOpen ? 700 : 0);

  useLayoutEffect(() => {
    if (moveTo === undefined) return;
    area.current?.setSelectionRange(moveTo, moveTo);
    setCaret(moveTo);
    setMoveTo(undefined);
  }, [moveTo]);

  const replace = (text: string, position: number) => {
    onChange(text);
    setMoveTo(position);
    setChosen(0);
    area.current?.focus();
  };
  const accept = ({ insert }: Completion) => {
    replace(value.slice(0, from) + insert + value.slice(to), from + insert.length);
    setOpen(true);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // While a text is composed, for example in Japanese, Enter ends the composition.
    if (event.nativeEvent.isComposing || !isHandled(event)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const isHandled = ({ key, ctrlKey, shiftKey }: KeyboardEvent): boolean => {
    const move = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
    if (ctrlKey && key === ' ') setOpen(true);
    else if (shown.length === 0) return false;
    else if (move !== 0) {
      setTyping(true);
      setChosen((selected + move + shown.length) % shown.length);
    } else if (key === 'Enter' || (key === 'Tab' && !shiftKey && isTyping)) accept(shown[selected]!);
    else if (key === 'Escape') setOpen(false);
    else return false;
    return true;
  };
  return (
    <div className={visible ? 'ed err' : 'ed'}>
      <div className="ed-in">
        <Highlighted text={value} problem={visible} />
        <textarea
          ref={area}
          rows={1}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          value={value}
          placeholder={attributes[0] ? `such as ${attributes[0].name} == …` : ''}
          aria-labelledby="ask-filter-label"
          aria-invalid={visible !== undefined}
          aria-describedby={visible ? `${id}-problem` : undefined}
          aria-autocomplete="list"
          aria-controls={shown.length > 0 ? `${id}-list` : undefined}
          aria-activedescendant={shown.length > 0 ? `${id}-${selected}` : undefined}
          onChange={({ target }) => {
            onChange(target.value);
            setCaret(target.selectionStart);
            setOpen(true);
            setTyping(true);
            setChosen(0);
          }}
          onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
          onFocus={() => setOpen(true)}
          onBlur={() => {
            setOpen(false);
            setTyping(false);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      {visible && (
        <ProblemNote
          id={`${id}-problem`}
          text={value}
          problem={visible}
          onFix={({ text }) => replace(text, text.length)}
        />
      )}
      <CompletionList {...{ id, items: shown, selected, publishers, accept }} />
    </div>
  );
}
