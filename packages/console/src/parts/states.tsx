/** Components for a part of a page whose data is loading, could not be loaded, is empty, or cannot be decrypted. */
import { ExchangeError } from '@measurement-exchange/sdk/client';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CompanionError } from '../companion/client.ts';
import { idOf } from '../session/roles.ts';
import { useSession } from '../session/session.ts';
import { CommandLine } from './CommandLine.tsx';
import { Icon } from './Icon.tsx';

/** Shows the data of a query. Until the data arrives, shows the loading state or the error. */
export function Loaded<T>({
  query,
  children,
  skeleton = <Skeleton />,
}: {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
  skeleton?: ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ErrorNote error={query.error} retry={() => void query.refetch()} />;
  return skeleton;
}

export function Skeleton({ rows = 4 }: { rows?: number }) {
  return (
    <div className="stack" aria-busy="true">
      <span className="sr">Loading</span>
      {Array.from({ length: rows }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all rows are the same
        <span key={i} className="sk" />
      ))}
    </div>
  );
}

export function ErrorNote({ error, retry }: { error: Error; retry?: () => void }) {
  const known = error instanceof ExchangeError || error instanceof CompanionError ? error : undefined;
  const { reason, requestId } = known ?? { reason: error.name, requestId: undefined };
  return (
    <div className="note bad" role="alert">
      <Icon name="x" tone="bad" />
      <div>
        <p>{error.message}</p>
        <p className="sm soft">
          <code>{reason}</code>
          {requestId && <> · request {requestId}</>}
        </p>
        {retry && (
          <button type="button" className="btn sm" onClick={retry}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function NeedsKey({ what }: { what: string }) {
  const { principal } = useSession();
  return (
    <div className="note">
      <Icon name="lock" />
      <div>
        <p>{what} Keys are opened only on your own machine, in mex console:</p>
        <CommandLine command={`mex console --as ${idOf(principal)}`} />
      </div>
    </div>
  );
}
