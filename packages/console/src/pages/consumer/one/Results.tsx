/** The decrypted and verified result of a measurement. */
import type { Measurement } from '@measurement-exchange/contract';
import { useResult } from '../../../live/useOpened.ts';
import { useNames } from '../../../parts/names.ts';
import { usePublishers } from '../../../parts/Publisher.tsx';
import { ResultView } from '../../../parts/results/ResultView.tsx';
import { VerificationChip, VerificationList } from '../../../parts/results/VerificationList.tsx';
import { ErrorNote, NeedsKey, Skeleton } from '../../../parts/states.tsx';
import { useSession } from '../../../session/session.ts';
import { usePopulation } from './usePopulation.ts';

const hasResult = ({ state, deleteTime }: Measurement) => state === 'SUCCEEDED' && deleteTime === undefined;

export function Results({ measurement }: { measurement: Measurement }) {
  const { companion } = useSession();
  const nameOf = useNames();
  const publisher = usePublishers();
  const result = useResult(measurement.name!, { enabled: hasResult(measurement) });
  const { data: population } = usePopulation(measurement);
  if (!hasResult(measurement)) return <NoResultYet state={measurement.state} />;
  if (result.data?.result) {
    return (
      <ResultView
        result={result.data.result}
        nameOf={nameOf}
        placeOf={(name) => publisher(name).index}
        {...(population?.size && { population: { size: population.size } })}
      />
    );
  }
  return (
    <section className="card">
      <header>
        <h2>Results</h2>
      </header>
      <div className="in-card stack">
        {companion === undefined && <NeedsKey what="The result is sealed for you." />}
        {result.isLoading && <Skeleton />}
        {result.error && <ErrorNote error={result.error} retry={() => void result.refetch()} />}
        {result.data?.error && <p className="bad">The result is not shown: {result.data.error}</p>}
      </div>
    </section>
  );
}

export function Verified({ measurement }: { measurement: Measurement }) {
  const nameOf = useNames();
  const { data } = useResult(measurement.name!, { enabled: hasResult(measurement) });
  if (data === undefined || !hasResult(measurement)) return null;
  const isPassed = data.steps.every(({ holds }) => holds === true);
  return (
    <section className="card">
      <header>
        <h2>Verified</h2>
        <VerificationChip steps={data.steps} />
        <p>Decrypted and checked where your keys are, from your signature to the figures.</p>
      </header>
      <div className="in-card">
        <details open={!isPassed}>
          <summary className="sm">Every step</summary>
          <VerificationList steps={data.steps} nameOf={nameOf} />
        </details>
      </div>
    </section>
  );
}

function NoResultYet({ state }: { state: Measurement['state'] }) {
  if (state !== 'AWAITING_REQUISITION_FULFILLMENT' && state !== 'COMPUTING') return null;
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
