/** The search dialog, which opens with `/` or Ctrl K. It finds pages, and the resources that the caller can read. */
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { Icon } from '../parts/Icon.tsx';
import { type Found, useFound } from './useFound.ts';
import './find.css';

let openDialog = () => {};
export const openFind = () => openDialog();

export function FindButton() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    openDialog = () => setOpen(true);
  }, []);
  return (
    <>
      <button className="find" type="button" onClick={() => setOpen(true)}>
        <Icon name="search" />
        <span>Find</span>
        <kbd>/</kbd>
      </button>
      {isOpen && <FindDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function FindDialog({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { found, state } = useFound(text);
  const navigate = useNavigate();
  const list = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const go = ({ path }: Found) => {
    onClose();
    void navigate({ to: path as '.' });
  };
  const current = Math.min(at, Math.max(0, found.length - 1));
  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setAt((current + step + found.length) % Math.max(1, found.length));
    else if (event.key === 'Enter' && found[current]) go(found[current]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} className="finder" aria-label="Find" onClose={onClose}>
      <input
        className="in"
        type="text"
        autoComplete="off"
        role="combobox"
        aria-label="Title, name or reference"
        aria-expanded={found.length > 0}
        aria-controls={list}
        aria-activedescendant={found[current] && `${list}-${current}`}
        placeholder="Title, name or reference"
        maxLength={200}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <Matches id={list} found={found} current={current} onGo={go} />
      <p className="hint" role="status">
        {state}
      </p>
    </dialog>
  );
}

function Matches({
  id,
  found,
  current,
  onGo,
}: {
  id: string;
  found: Found[];
  current: number;
  onGo: (found: Found) => void;
}) {
  return (
    <div id={id} role="listbox" aria-label="Matches" className="matches">
      {found.map((match, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the search field handles the keys
        <div
          key={match.path + match.words}
          id={`${id}-${i}`}
          role="option"
          tabIndex={-1}
          aria-selected={i === current}
          onClick={() => onGo(match)}
        >
          <Icon name={match.icon} />
          <bdi>{match.words}</bdi>
          <span className="hint">{match.kind}</span>
        </div>
      ))}
    </div>
  );
}
