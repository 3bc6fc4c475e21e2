/** The console: the sign-in page, then the pages of the caller's role. */
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
  // Keep all sessions in memory, so that a user can switch back without signing in again.
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
  const change = () => setSession(undefined);
  return (
    <SwitchContext value={{ change, signOut: session.login && signOut }}>
      <Signed key={session.principal} session={session} />
      {session.login && <SignInAgain login={session.login} leave={signOut} />}
    </SwitchContext>
  );
}

function Signed({ session }: { session: Session }) {
  const router = useMemo(() => makeRouter(session.role), [session.role]);
  const [connection, setConnection] = useState<Connection>('connecting');
  const queries = useMemo(
    // Do not retry failed queries, because the API client already retries requests.
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
      <ConnectionContext value={connection}>
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </ConnectionContext>
    </SessionProvider>
  );
}
