/** A page with every chart and every result, for the tests. Names are hostile, and intervals are extreme. */
import type { MeasurementResult, VerificationStep } from '@measurement-exchange/sdk';
import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import '../src/app/style.css';
import {
  addingUpChart,
  bandChart,
  barChart,
  calendarChart,
  groupChart,
  kPlusChart,
  miniWhisker,
  PEOPLE,
  previewChart,
  SHARE,
  seriesAt,
  upsetChart,
} from '../src/charts/index.ts';
import { Chart, Drawing, Swatch } from '../src/parts/Chart.tsx';
import { CompareResults } from '../src/parts/results/CompareResults.tsx';
import { ResultView } from '../src/parts/results/ResultView.tsx';
import { VerificationChip, VerificationList } from '../src/parts/results/VerificationList.tsx';

const HOSTILE = `<img src=x onerror="alert(1)">\u202e${'long '.repeat(60)}`;
const around = (value: number, margin: number) => ({
  value,
  variance: margin ** 2,
  standardDeviation: margin / 1.96,
  interval: [Math.max(0, value - margin), value + margin] as [number, number],
});
const counts = [420_731, 310_499, 223_829, 156_933, 108_128, 72_786, 47_543, 29_451, 17_250, 9256];
const frequency = counts.map((count, i) => ({
  frequency: i + 1,
  share: around((count - (counts[i + 1] ?? 0)) / 420_731, 0.008),
  count: around(count - (counts[i + 1] ?? 0), 3400),
  atLeast: around(count, i === 0 ? 129 : 3490 + 120 * i),
}));
const PUBLISHERS = ['streamly', 'chirper', 'dailynews'].map((id) => `dataProviders/${id}`);

const base = { measurement: 'measurementConsumers/acme/measurements/m1', dataProviders: [] };
const deduplicated: MeasurementResult = {
  ...base,
  type: 'reachAndFrequency',
  dataProviders: PUBLISHERS.map((name) => ({ name })),
  total: {
    deduplicated: { reach: around(420_731, 129), frequency, aggregator: 'duchies/gamma', workers: [] },
  },
};
const alone: MeasurementResult = {
  ...base,
  type: 'reach',
  dataProviders: PUBLISHERS.map((name, i) => ({ name, reach: around([270_614, 191_862, 120_180][i]!, 129) })),
  total: { reach: { bounds: [270_614, 582_656], note: '' } },
};
const watched: MeasurementResult = {
  ...base,
  type: 'duration',
  dataProviders: PUBLISHERS.slice(0, 2).map((name) => ({
    name,
    watchDurationSeconds: around(16_770_000, 382_000),
  })),
  total: { watchDurationSeconds: around(33_540_000, 763_000) },
};
/**
 * A result that was copied through JSON, as the companion server does. JSON turns the infinite error of an estimate
 * into null.
 */
const unknown = JSON.parse(
  JSON.stringify({
    ...base,
    type: 'impression',
    dataProviders: [
      { name: `dataProviders/${HOSTILE}`, impressions: around(1_709_468, Number.POSITIVE_INFINITY) },
    ],
    total: { impressions: around(1_709_468, Number.POSITIVE_INFINITY) },
  }),
) as MeasurementResult;

const steps: VerificationStep[] = [
  {
    about: 'what you asked',
    step: 'your certificate is trusted',
    holds: true,
    detail: 'fingerprint 51:0E…B7',
  },
  { about: 'dataProviders/streamly', step: 'its certificate is trusted', holds: true, detail: '' },
  {
    about: 'duchies/gamma',
    step: 'it signed the result',
    holds: false,
    detail: `the signature does not fit ${HOSTILE}`,
  },
  {
    about: 'all together',
    step: 'every provider has one result',
    detail: 'not checked, because an earlier step failed',
  },
];

const days = Array.from({ length: 78 }, (_, i) => ({
  date: new Date(Date.UTC(2026, 8, 1 + i)).toISOString().slice(0, 10),
  ...(i < 70 && { share: (i % 20) / 20 }),
}));
const weeks = [141_204, 225_000, 286_000, 332_915, 368_402, 397_000, 419_000, 437_204];

const CHARTS = {
  bars: barChart('Reach: people', PEOPLE, [
    { label: 'Streamly', ...around(270_614, 4000), series: seriesAt(0), sub: 'video' },
    { label: HOSTILE, ...around(42, 407), series: seriesAt(1) },
    { label: 'Unknown', value: 120_000, interval: [0, Number.POSITIVE_INFINITY], series: seriesAt(2) },
  ]),
  capped: kPlusChart(
    'At least this often: people',
    frequency.map(({ atLeast }) => atLeast),
    3,
  ),
  'adding-up': addingUpChart('Each person once: people', {
    once: around(437_204, 129),
    addedUp: 636_956,
    population: 600_000,
  }),
  weeks: bandChart(
    'Reach, week by week: people',
    PEOPLE,
    weeks.map((value, i) => ({ label: `Week ${i + 1}`, ...around(value, i === 7 ? 129 : 15_000) })),
  ),
  groups: groupChart(
    'By age and sex: share of the group',
    SHARE,
    ['Women', HOSTILE],
    ['18–34', '35–54', '55+'].map((label, i) => ({
      label,
      sub: '182,600 people',
      figures: [around(0.785 - i * 0.04, 0.0042), around(0.75 - i * 0.04, 0.0042)],
    })),
  ),
  upset: upsetChart(
    'Seen on: people',
    ['Streamly', 'Chirper', 'Dailynews', 'Palmcast'],
    Array.from({ length: 15 }, (_, i) => ({
      members: [0, 1, 2, 3].filter((bit) => ((i + 1) >> bit) & 1),
      ...around(Math.round(131_570 / 1.6 ** i), 182),
    })),
  ),
  days: calendarChart('Privacy budget by day: percent', days, 'spent'),
  preview: previewChart('Expected spread: people', { margin: 400, limit: 1500, unit: PEOPLE }),
};

function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="card">
      <header>
        <h2>{title}</h2>
      </header>
      <div className="in-card">{children}</div>
    </section>
  );
}

function Gallery() {
  return (
    <main className="page">
      <h1>Charts and results</h1>
      <ResultView result={deduplicated} population={{ size: 600_000, word: 'adults' }} addedUp={582_656} />
      <div className="cols c2">
        {Object.entries(CHARTS).map(([name, chart]) => (
          <Card key={name} title={chart.title}>
            <Chart chart={chart} file={name} />
          </Card>
        ))}
      </div>
      <Card title="A list">
        <span className="tag">
          <Swatch index={0} />
          Streamly
        </span>
        <Drawing tree={miniWhisker(around(420_731, 4000))} />
      </Card>
      <ResultView result={alone} />
      <ResultView result={watched} />
      <ResultView result={unknown} />
      <CompareResults
        results={[
          { title: 'Autumn', result: deduplicated },
          { title: HOSTILE, result: deduplicated },
          { title: 'Alone', result: alone },
        ]}
      />
      <section className="card">
        <header>
          <h2>Verified</h2>
          <VerificationChip steps={steps} />
        </header>
        <div className="in-card">
          <VerificationList steps={steps} />
        </div>
      </section>
    </main>
  );
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <Gallery />
  </StrictMode>,
);
