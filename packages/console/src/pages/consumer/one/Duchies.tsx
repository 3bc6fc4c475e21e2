/** The stages of the duchies that compute a measurement. */
import type { Measurement } from '@measurement-exchange/contract';
import { Lanes } from '../../../parts/Lanes.tsx';
import { capital, useNames } from '../../../parts/names.ts';
import { protocolWords } from '../../../parts/protocols.ts';
import { type Computation, lanesOf } from './stages.ts';

const NUMBERS = ['no', 'one', 'two', 'three', 'four', 'five', 'six'];

export function Duchies({
  measurement,
  now,
  ...about
}: { measurement: Measurement; now: number } & Pick<Computation, 'requisitions' | 'reports' | 'waitsFor'>) {
  const nameOf = useNames();
  const { protocolConfig, state } = measurement;
  if (protocolConfig === undefined) return null;
  const drawn = lanesOf({ protocolConfig, state, ...about }, nameOf, now);
  if (drawn === undefined) return null;
  const { label, how } = protocolWords(protocolConfig);
  const amount = NUMBERS[drawn.lanes.length] ?? String(drawn.lanes.length);
  return (
    <section className="card">
      <header>
        <h2>
          {capital(amount)} duchies {state === 'SUCCEEDED' ? 'computed' : 'compute'} it
        </h2>
        <span className="sm muted">{label}</span>
        <p>Each duchy is run by another organization, and none of them sees who the people are. {how}</p>
      </header>
      <div className="in-card">
        <Lanes {...drawn} />
      </div>
    </section>
  );
}
