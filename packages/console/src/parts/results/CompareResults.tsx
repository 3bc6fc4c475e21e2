/** Compares several results on one axis, with their intervals. */
import type { MeasurementResult } from '@measurement-exchange/sdk';
import {
  type Bar,
  barChart,
  type Figure,
  groupChart,
  SHARE,
  seriesAt,
  type Unit,
} from '../../charts/index.ts';
import type { Interval } from '../../format.ts';
import { idOf } from '../../session/roles.ts';
import { Chart } from '../Chart.tsx';
import { answerOf, figureOf, type NameOf } from './answers.ts';

export interface Compared {
  title: string;
  result: MeasurementResult;
}

export function CompareResults({
  results,
  nameOf = idOf,
}: {
  results: readonly Compared[];
  nameOf?: NameOf;
}) {
  const rows = results.flatMap(({ title, result }, i) => {
    const answer = answerOf(result, nameOf);
    return answer
      ? [
          {
            unit: answer.unit,
            bar: { ...answer.figure, label: title, sub: answer.label, series: seriesAt(i) },
          },
        ]
      : [];
  });
  const byUnit = Map.groupBy(rows, ({ unit }) => unit);
  return (
    <div className="stack wide">
      {[...byUnit].map(([unit, of]) => (
        <Answers key={unit.name} unit={unit} bars={of.map(({ bar }) => bar)} />
      ))}
      <Frequencies results={results} />
      {rows.length < results.length && (
        <p className="sm soft">
          Results of publishers that each counted alone have no common figure, so they are not compared here.
        </p>
      )}
    </div>
  );
}

function Answers({ unit, bars }: { unit: Unit; bars: Bar[] }) {
  const isAlone = bars.length === 1;
  const title = isAlone ? unit.name : `${unit.name}, side by side`;
  return (
    <section className="card">
      <header>
        <h2>{title}</h2>
        <p>
          {isAlone
            ? 'The other results count something else, so this one stands alone.'
            : 'Lines show the 95 % interval. If two of them overlap, the difference may be noise.'}
        </p>
      </header>
      <div className="in-card">
        <Chart chart={barChart(title, unit, bars)} file={`compare-${unit.name.toLowerCase()}`} />
      </div>
    </section>
  );
}

function Frequencies({ results }: { results: readonly Compared[] }) {
  const distributions = results.map(({ result: { total, dataProviders } }) =>
    (
      total.deduplicated?.frequency ??
      (dataProviders.length === 1 ? dataProviders[0]!.frequency : undefined) ??
      []
    ).map(({ share }) => figureOf(share)),
  );
  const lengths = distributions.map((shares) => shares.length).filter((length) => length > 0);
  if (lengths.length < 2) return null;
  // The last share of a result is that of everybody who was reached at least this often.
  const last = Math.min(...lengths);
  const comparable = distributions.map((shares) =>
    shares.length > last ? [...shares.slice(0, last - 1), together(shares.slice(last - 1))] : shares,
  );
  const groups = Array.from({ length: last }, (_, k) => ({
    label: k + 1 === last ? `${last}+` : `${k + 1}`,
    figures: comparable.map((shares): Figure | undefined => shares[k]),
  }));
  const title = 'How often, side by side';
  return (
    <section className="card">
      <header>
        <h2>{title}</h2>
        <p>Share of the people reached this many times.</p>
      </header>
      <div className="in-card">
        <Chart
          chart={groupChart(
            title,
            SHARE,
            results.map(({ title }) => title),
            groups,
          )}
          file="compare-frequency"
        />
      </div>
    </section>
  );
}

/** Returns the sum of shares. Its interval is wide enough, because it reaches from the sum of the lower bounds up. */
function together(shares: readonly (Figure & { interval: Interval })[]): Figure {
  const sum = (of: (share: Figure & { interval: Interval }) => number) =>
    shares.reduce((total, share) => total + of(share), 0);
  return {
    value: sum(({ value }) => value),
    interval: [
      sum(({ interval }) => interval[0]),
      Math.min(
        1,
        sum(({ interval }) => interval[1]),
      ),
    ],
  };
}
