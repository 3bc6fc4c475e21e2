/** A dialog for an action that cannot be undone: says what will happen, and asks once. */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { ErrorNote } from './states.tsx';
import './dialog.css';

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
  /** The words of the button, such as `Cancel measurement`. */
  verb: string;
  /** The words of the button that changes nothing. */
  keep?: string;
  /** `main` for an action that can be undone. */
  tone?: 'danger' | 'main';
  /** Whether something is still missing in the dialog's fields. */
  disabled?: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  /** Says what will happen, with numbers. */
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
    <dialog ref={dialog} className="confirm" aria-labelledby={id} onClose={onClose}>
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
