/** A dialog that explains the consequences of an action before the user confirms it. */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { ErrorNote } from './states.tsx';

export function ConfirmDialog({
  title,
  verb,
  keep = 'Keep it',
  tone = 'danger',
  disabled = false,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  verb: string;
  /** The text of the button that cancels. */
  keep?: string;
  /** `main` if the action can be undone. */
  tone?: 'danger' | 'main';
  /** True while a required field in the dialog is empty. */
  disabled?: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const confirm = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setError(error as Error);
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <div className="stack">
        <h2 id={id}>{title}</h2>
        <div className="stack tight soft">{children}</div>
        {error && <ErrorNote error={error} />}
        <div className="acts">
          <button type="button" className="btn" onClick={onClose}>
            {keep}
          </button>
          <button
            type="button"
            className={`btn ${tone}`}
            disabled={busy || disabled}
            onClick={() => void confirm()}
          >
            {verb}
          </button>
        </div>
      </div>
    </dialog>
  );
}
