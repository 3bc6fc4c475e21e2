/** The first page: who are you? */
import { useEffect, useState } from 'react';
import type { ServedBy } from '../companion/methods.ts';
import { CommandLine } from '../parts/CommandLine.tsx';
import { Icon } from '../parts/Icon.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { idOf, ROLE_WORDS, roleOf } from '../session/roles.ts';
import { openSession, type Session, type TokenSource } from '../session/session.ts';
import { signIn } from '../session/signIn.ts';
import { Brand } from './Brand.tsx';

export function SignIn({
  servedBy,
  onSession,
}: {
  servedBy: ServedBy;
  onSession: (session: Session) => void;
}) {
  const { by, identities = [], issuers = [], companion } = servedBy;
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const enter = async (source: () => Promise<TokenSource> | TokenSource) => {
    setBusy(true);
    setError(undefined);
    try {
      onSession(await openSession(servedBy, await source()));
    } catch (error) {
      setError(error as Error);
    } finally {
      setBusy(false);
    }
  };
  const only = identities.length === 1 ? identities[0]!.id : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: enters once, when the page opens
  useEffect(() => {
    if (only !== undefined) void enter(() => ({ identity: only }));
  }, [only]);
  return (
    <main className="signin stack wide" id="main">
      <Brand link={false} />
      <h1>Sign in</h1>
      {error && <ErrorNote error={error} />}
      <div className="stack">
        {identities.map(({ id, principal }) => (
          <button
            key={id}
            type="button"
            className="btn"
            disabled={busy}
            onClick={() => void enter(() => ({ identity: id }))}
          >
            <Icon name="key" /> {idOf(principal)} · {ROLE_WORDS[roleOf(principal)]}
          </button>
        ))}
        {issuers.map((issuer) => (
          <button
            key={issuer.issuer}
            type="button"
            className="btn main"
            disabled={busy}
            onClick={() => void enter(() => signIn(issuer))}
          >
            Sign in with {issuer.name}
          </button>
        ))}
      </div>
      {by === 'exchange' && !companion && (
        <div className="note">
          <Icon name="lock" />
          <div>
            <p>
              This copy of the console comes from the exchange and opens no keys. With keys, on your own
              machine:
            </p>
            <CommandLine command="mex console" />
          </div>
        </div>
      )}
    </main>
  );
}
