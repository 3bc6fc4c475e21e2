import type { FrequencyEstimate } from '@measurement-exchange/sdk';
import { frequencyChart, kPlusChart } from '../../charts/index.ts';
import { Chart } from '../Chart.tsx';
import { figureOf } from './answers.ts';

/** Charts of how often people were reached. `whose` is the publisher's name, if the figures are from one publisher. */
export function Frequency({
  frequency,
  whose,
  file,
}: {
  frequency: readonly FrequencyEstimate[];
  whose?: string;
  file: string;
}) {
  if (frequency.length === 0) return null;
  const suffix = whose === undefined ? '' : `, ${whose}`;
  const shares = frequency.map(({ share }) => figureOf(share));
  const atLeast = frequency.map((each) => figureOf(each.atLeast));
  return (
    <div className="cols c2">
      <section className="card">
        <header>
          <h2>
            How often<bdi>{suffix}</bdi>
          </h2>
          <p>Share of the people reached exactly this many times.</p>
        </header>
        <div className="in-card">
          <Chart
            chart={frequencyChart(`How often${suffix}: share of the people reached`, shares)}
            file={`${file}-frequency`}
          />
        </div>
      </section>
      <section className="card">
        <header>
          <h2>
            At least this often (k+)<bdi>{suffix}</bdi>
          </h2>
          <p>People; derived from the same answer, at no extra cost.</p>
        </header>
        <div className="in-card">
          <Chart
            chart={kPlusChart(`At least this often (k+)${suffix}: people`, atLeast)}
            file={`${file}-k-plus`}
          />
        </div>
      </section>
    </div>
  );
}
