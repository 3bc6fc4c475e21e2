/** The dialog that fills in the form from an earlier measurement. */
import { useRef, useState } from 'react';
import { A } from '../../../parts/A.tsx';
import { Icon } from '../../../parts/Icon.tsx';
import { Loaded } from '../../../parts/states.tsx';
import { useTitles } from '../../../parts/useTitles.ts';
import { idOf } from '../../../session/roles.ts';

export function EarlierOnes() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  const open = () => {
    setOpen(true);
    dialog.current?.showModal();
  };
  return (
    <>
      <button type="button" className="btn" onClick={open}>
        <Icon name="clone" /> Start from an earlier one
      </button>
      <dialog ref={dialog} aria-label="Start from an earlier one" onClose={() => setOpen(false)}>
        {isOpen && <Found close={() => dialog.current?.close()} />}
      </dialog>
    </>
  );
}

function Found({ close }: { close: () => void }) {
  const [text, setText] = useState('');
  const found = useTitles(text, 10, true);
  return (
    <div className="stack">
      <div className="row between">
        <h2>Start from an earlier one</h2>
        <button type="button" className="btn sm" onClick={close}>
          Close
        </button>
      </div>
      <input
        className="in"
        type="search"
        aria-label="Find by title"
        placeholder="Find by title"
        maxLength={200}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Loaded query={found}>
        {({ matches }) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the Enter key clicks a focused link
          // biome-ignore lint/a11y/noStaticElementInteractions: closes the dialog when a link inside is followed
          <div className="stack tight" onClick={close}>
            {matches.map(({ name, title }) => (
              <A key={name} to={`/new?from=${idOf(name)}`}>
                <bdi>{title || idOf(name)}</bdi>
              </A>
            ))}
            {matches.length === 0 && <p className="soft">No measurement has such a title.</p>}
          </div>
        )}
      </Loaded>
    </div>
  );
}
