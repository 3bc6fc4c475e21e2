/** Shows how often people were reached, and how many impressions a frequency cap would have saved. */
import { useId, useState } from 'react';
import { decimals, IMPRESSIONS } from '../../../charts/index.ts';
import { count, intervalText, percent } from '../../../format.ts';
import { Chart } from '../../../parts/Chart.tsx';
import { kChart } from '../../../reports/charts.ts';
import type { FigureView } from '../../../reports/types.ts';
import { figureWords } from '../../../reports/words.ts';
import { Card } from './Card.tsx';
import type { Labeled } from './shown.ts';

const USUAL_CAP = 3;

export function Frequency({ view, labels }: Labeled) {
  const id = useId();
  const distributions = view.figures.filter(({ frequencies }) => frequencies !== undefined);
  const [chosen, setChosen] = useState(0);
  const [cap, setCap] = useState<number>();
  const figure = distributions[chosen];
  if (figure === undefined) return null;
  const striped = figure.beyond ? (cap ?? Math.min(USUAL_CAP, figure.frequencies!.length - 1)) : undefined;
  return (
    <Card
      title="How often people were reached"
      hint={`People reached at least this many times (k+). ${striped ? 'Stripes: what a cap would cut.' : ''}`}
    >
      {distributions.length > 1 && (
        <div className="field">
          <label htmlFor={id}>Of</label>
          <select
            className="in"
            id={id}
            value={chosen}
            onChange={({ target }) => {
              setChosen(Number(target.value));
              // Another distribution may end at a lower frequency.
              setCap(undefined);
            }}
          >
            {distributions.map((of, i) => (
              <option key={JSON.stringify([of.of, of.period, of.group])} value={i}>
                {figureWords(view, labels, of)}
              </option>
            ))}
          </select>
        </div>
      )}
      <Chart chart={kChart(figure, striped)} file="frequency" />
      <Average figure={figure} />
      {figure.beyond && <WhatIf figure={figure} cap={striped!} setCap={setCap} />}
    </Card>
  );
}

const TWO = decimals('Average frequency', 2);

function Average({ figure: { average } }: { figure: FigureView }) {
  if (average === undefined) return null;
  return (
    <p className="sm soft">
      On average <b>{TWO.text(average.value)} times</b>{' '}
      <span className="muted">95 %: {intervalText(average.interval, TWO)}</span>
    </p>
  );
}

function WhatIf({
  figure: { beyond = [], value, frequencies = [], average },
  cap,
  setCap,
}: {
  figure: FigureView;
  cap: number;
  setCap: (cap: number) => void;
}) {
  const id = useId();
  const saved = beyond[cap - 1]!;
  const impressions = average!.value * value!;
  return (
    <>
      <hr />
      <div className="stack tight">
        <h3>
          <label htmlFor={id}>
            What if everyone were capped at <output htmlFor={id}>{cap}</output>?
          </label>
        </h3>
        <input
          id={id}
          type="range"
          min={1}
          max={frequencies.length}
          step={1}
          value={cap}
          aria-valuetext={`${cap}: ${count(saved.value)} impressions fewer`}
          onChange={({ target }) => setCap(Number(target.value))}
        />
        <p className="sm">
          <b>{count(saved.value)}</b> impressions fewer{' '}
          <span className="muted">95 %: {intervalText(saved.interval, IMPRESSIONS)}</span>
        </p>
        <p className="xs muted">
          {impressions > 0 && <>That is {percent(saved.value / impressions)} of all impressions. </>}
          Reach stays at {count(value!)}. Computed from this report; costs no budget.
        </p>
      </div>
    </>
  );
}
