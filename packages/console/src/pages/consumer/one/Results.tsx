/** The result: decrypted and verified where the keys are. */
import type { Measurement } from '@measurement-exchange/contract';
import { useResult } from '../../../companion/useOpened.ts';
import { ErrorNote, NeedsKey, Skeleton } from '../../../parts/states.tsx';
import { useSession } from '../../../session/session.ts';
import { Figures } from './Figures.tsx';

export function Results({ measurement }: { measurement: Measurement }) {
  const { companion } = useSession();
  const result = useResult(measurement.name!, {
    enabled: measurement.state === 'SUCCEEDED' && !measurement.deleteTime,
  });
  if (measurement.deleteTime) return null;
  if (measurement.state !== 'SUCCEEDED') return <NoResultYet state={measurement.state} />;
  return (
    <section className="card">
      <header>
        <h2>Results</h2>
      </header>
      <div className="in-card stack">
        {companion === undefined && <NeedsKey what="The result is sealed for you." />}
        {result.isLoading && <Skeleton />}
        {result.error && <ErrorNote error={result.error} retry={() => void result.refetch()} />}
        {result.data?.error && (
          <div className="note bad" role="alert">
            <div>The result is not shown: {result.data.error}</div>
          </div>
        )}
        {result.data?.result && <Figures result={result.data.result} />}
      </div>
    </section>
  );
}

function NoResultYet({ state }: { state: Measurement['state'] }) {
  if (state === 'FAILED' || state === 'CANCELLED') return null;
  return (
    <section className="card">
      <header>
        <h2>Results</h2>
      </header>
      <div className="empty">
        <svg viewBox="0 0 120 44" className="plot" aria-hidden="true">
          <line className="wh dash" x1="14" x2="106" y1="22" y2="22" />
          <line className="wh" x1="14" x2="14" y1="12" y2="32" />
          <line className="wh" x1="106" x2="106" y1="12" y2="32" />
        </svg>
        <h3>Not yet</h3>
        <p>
          The figure appears here as soon as it is signed, and is decrypted and checked where your keys are.
        </p>
      </div>
    </section>
  );
}
