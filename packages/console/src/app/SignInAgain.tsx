/** The dialog that covers the page when the sign-in has expired. The page keeps everything that the user has typed. */
import { useEffect, useRef, useState } from 'react';
import { Icon } from '../parts/Icon.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { type Login, SignInExpired } from '../session/login.ts';

interface Expiry {
  renewed: () => void;
  failed: (error: Error) => void;
}

export function SignInAgain({ login, leave }: { login: Login; leave: () => void }) {
  const [expiry, setExpiry] = useState<Expiry>();
  useEffect(() => {
    login.onExpired = () => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      setExpiry({ renewed: resolve, failed: reject });
      return promise.finally(() => setExpiry(undefined));
    };
    return () => {
      login.onExpired = undefined;
    };
  }, [login]);
  if (expiry === undefined) return null;
  const giveUp = () => {
    expiry.failed(new SignInExpired());
    leave();
  };
  return <Expired login={login} expiry={expiry} leave={giveUp} />;
}

function Expired({ login, expiry, leave }: { login: Login; expiry: Expiry; leave: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const cancel = useRef<AbortController>(undefined);
  const [error, setError] = useState<Error>();
  useEffect(() => {
    dialog.current!.showModal();
    return () => cancel.current?.abort();
  }, []);
  const again = async () => {
    cancel.current?.abort();
    cancel.current = new AbortController();
    try {
      await login.signInAgain(cancel.current.signal);
      expiry.renewed();
    } catch (error) {
      setError(error as Error);
    }
  };
  return (
    <dialog
      ref={dialog}
      className="expired"
      aria-labelledby="expired"
      onCancel={(event) => event.preventDefault()}
    >
      <div className="stack">
        <h2 id="expired">Your sign-in has expired</h2>
        <p>Sign in again. Nothing you typed is lost.</p>
        {error && <ErrorNote error={error} />}
        <div className="acts">
          <button type="button" className="btn main" onClick={() => void again()}>
            <Icon name="right" /> Sign in again
          </button>
          <button type="button" className="btn" onClick={leave}>
            Sign out
          </button>
        </div>
      </div>
    </dialog>
  );
}
