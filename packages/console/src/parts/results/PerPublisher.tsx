import type { MeasurementResult } from '@measurement-exchange/sdk';
import { type Bar, barChart, IMPRESSIONS, PEOPLE, seriesAt, type Unit } from '../../charts/index.ts';
import { count } from '../../format.ts';
import { Chart } from '../Chart.tsx';
import { figureOf, listOf, type NameOf, timeOf } from './answers.ts';

type Props = {
  result: MeasurementResult;
  nameOf: NameOf;
  file: string;
  placeOf?: (resource: string) => number;
};

export function PerPublisher({ result, nameOf, file, placeOf }: Props) {
  const { bars, unit, title } = barsOf(result, nameOf, placeOf);
  if (bars.length < 2) return null;
  return (
    <section className="card">
      <header>
        <h2>By publisher</h2>
        <p>Each publisher counted alone, with noise of its own. Lines show the 95 % interval.</p>
      </header>
      <div className="in-card">
        <Chart chart={barChart(title, unit, bars)} file={`${file}-publishers`} />
      </div>
    </section>
  );
}

/**
 * Shows bounds of the total reach, for a measurement in which each publisher counted only its own people. The lower
 * bound is the largest of the publishers' reaches, and the upper bound is their sum.
 */
export function ReachBounds({ result, nameOf, file, placeOf }: Props) {
  const { bounds } = result.total.reach!;
  const { bars, title } = barsOf(result, nameOf, placeOf);
  const addedUp: Bar = { label: 'Added up', value: bounds[1], look: 'striped', note: 'at most' };
  const names = listOf(result.dataProviders.map(({ name }) => nameOf(name)));
  return (
    <section className="card">
      <div className="in-card stack">
        <h2 className="lab soft">People reached by {names}, some of them counted more than once</h2>
        <div className="big">
          <span className="v">
            {count(bounds[0])}–{count(bounds[1])}
          </span>
          <span className="pm">how many is not known</span>
        </div>
        <p className="sm soft">
          Each publisher counted its own people, and how many of them are the same is unknown. If everybody
          was reached at the largest publisher, too, the reach is {count(bounds[0])}. Adding up claims{' '}
          {count(bounds[1])}, as if nobody was reached twice. A deduplicated measurement counts each person
          once.
        </p>
        <Chart chart={barChart(title, PEOPLE, [...bars, addedUp])} file={`${file}-bounds`} />
      </div>
    </section>
  );
}

function barsOf(
  { dataProviders, total }: MeasurementResult,
  nameOf: NameOf,
  placeOf?: (resource: string) => number,
): { bars: Bar[]; unit: Unit; title: string } {
  const barsWith = (
    figure: (each: (typeof dataProviders)[number]) => Pick<Bar, 'value' | 'interval'> | undefined,
  ) =>
    dataProviders.flatMap((each, i): Bar[] => {
      const found = figure(each);
      return found
        ? [{ ...found, label: nameOf(each.name), series: seriesAt(placeOf?.(each.name) ?? i) }]
        : [];
    });
  const { watchDurationSeconds: watched } = total;
  if (watched) {
    return {
      bars: barsWith(
        (each) => each.watchDurationSeconds && timeOf(each.watchDurationSeconds, watched).figure,
      ),
      unit: timeOf(watched).unit,
      title: `${timeOf(watched).unit.name} watched by publisher`,
    };
  }
  if (total.impressions) {
    return {
      bars: barsWith((each) => each.impressions && figureOf(each.impressions)),
      unit: IMPRESSIONS,
      title: 'Impressions by publisher',
    };
  }
  return {
    bars: barsWith(({ reach, population }) => (reach ?? population) && figureOf((reach ?? population)!)),
    unit: PEOPLE,
    title: 'People by publisher',
  };
}
