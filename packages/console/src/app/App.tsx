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

export function App({ servedBy }: { servedBy: ServedBy }) {
  const [session, setSession] = useState<Session>();
  if (session === undefined) return <SignIn servedBy={servedBy} onSession={setSession} />;
  return <Signed key={session.principal} session={session} leave={() => setSession(undefined)} />;
}

function Signed({ session, leave }: { session: Session; leave: () => void }) {
  const router = useMemo(makeRouter, []);
  const [connection, setConnection] = useState<Connection>('connecting');
  const queries = useMemo(
    () => new QueryClient({ defaultOptions: { queries: { staleTime: 30_000, retry: 1 } } }),
    [],
  );
  useEffect(() => {
    const ended = new AbortController();
    void follow(session, queries, { signal: ended.signal, onConnection: setConnection });
    return () => ended.abort();
  }, [session, queries]);
  return (
    <SessionProvider value={session}>
      <SwitchContext value={leave}>
        <ConnectionContext value={connection}>
          <QueryClientProvider client={queries}>
            <RouterProvider router={router} />
          </QueryClientProvider>
        </ConnectionContext>
      </SwitchContext>
    </SessionProvider>
  );
}
