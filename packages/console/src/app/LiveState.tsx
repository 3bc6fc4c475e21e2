import { createContext, useContext } from 'react';
import type { Connection } from '../live/live.ts';
import { useSession } from '../session/session.ts';

export const ConnectionContext = createContext<Connection>('connecting');

const WORDS: Record<Connection, { text: string; title: string }> = {
  connecting: { text: 'Connecting', title: 'The page does not yet follow changes.' },
  live: { text: 'Live', title: 'Changes arrive as they happen.' },
  refreshed: { text: 'Refreshed', title: 'The connection was lost. The page has read everything again.' },
  offline: { text: 'Not connected', title: 'The page shows what it last read, and tries to connect again.' },
};

/** Shows whether the page receives updates from the change feed. Shows nothing for the operator, which has no feed. */
export function LiveState() {
  const connection = useContext(ConnectionContext);
  if (useSession().role === 'operator') return null;
  const { text, title } = WORDS[connection];
  const isLive = connection === 'live' || connection === 'refreshed';
  return (
    <span className={isLive ? 'live' : 'live off'} title={title} role="status">
      <i />
      <span>{text}</span>
    </span>
  );
}
