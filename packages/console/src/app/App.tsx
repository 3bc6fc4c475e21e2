/** The console: sign in, then the pages of the caller's role. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import type { ServedBy } from '../companion/methods.ts';
import { type Connection, follow } from '../live/live.ts';
import { type Session, SessionProvider } from '../session/session.ts';
import { ConnectionContext } from './LiveState.tsx';
import { SwitchContext } from './PartySwitch.tsx';
import { makeRouter } from './router.tsx';
import { SignIn } from './SignIn.tsx';
import { SignInAgain } from './SignInAgain.tsx';

export function App({ servedBy }: { servedBy: ServedBy }) {
  const [session, setSession] = useState<Session>();
  // Everybody who signed in stays in memory, so that switching back needs no sign-in.
  const [sessions, setSessions] = useState<readonly Session[]>([]);
  const without = ({ principal }: Session) => sessions.filter((other) => other.principal !== principal);
  if (session === undefined) {
    const enter = (entered: Session) => {
      setSessions([...without(entered), entered]);
      setSession(entered);
    };
    return <SignIn servedBy={servedBy} sessions={sessions} onSession={enter} />;
  }
  const signOut = () => {
    setSessions(without(session));
    setSession(undefined);
  };
  return (
    <Signed
      key={session.principal}
      session={session}
      change={() => setSession(undefined)}
      signOut={signOut}
    />
  );
}

function Signed({ session, change, signOut }: { session: Session; change: () => void; signOut: () => void }) {
  const router = useMemo(makeRouter, []);
  const [connection, setConnection] = useState<Connection>('connecting');
  const queries = useMemo(
    // The client retries by itself, so a query that failed is shown as failed at once.
    () => new QueryClient({ defaultOptions: { queries: { staleTime: 30_000, retry: false } } }),
    [],
  );
  useEffect(() => {
    const ended = new AbortController();
    void follow(session, queries, { signal: ended.signal, onConnection: setConnection });
    return () => ended.abort();
  }, [session, queries]);
  return (
    <SessionProvider value={session}>
      <SwitchContext value={change}>
        <ConnectionContext value={connection}>
          <QueryClientProvider client={queries}>
            <RouterProvider router={router} />
          </QueryClientProvider>
          {session.login && <SignInAgain login={session.login} leave={signOut} />}
        </ConnectionContext>
      </SwitchContext>
    </SessionProvider>
  );
}
