import { Chart } from '../../../parts/Chart.tsx';
import { overTimeCharts } from '../../../reports/charts.ts';
import { dayWords } from '../../../reports/words.ts';
import { Card } from './Card.tsx';
import type { Labeled } from './shown.ts';

export function OverTime({ view, labels }: Labeled) {
  return overTimeCharts(view, labels).map(({ chart, isCumulative, sets }) => (
    <Card
      key={chart.title}
      title={isCumulative ? 'Reach over time' : 'Reach in each period'}
      hint={
        isCumulative
          ? `Cumulative: everyone reached from ${dayWords(view.period.start, view.interval)} to the end of each period. The band is the 95 % interval.`
          : 'Everyone reached in the period that starts on the day. The band is the 95 % interval.'
      }
    >
      <Chart chart={chart} file={isCumulative ? 'cumulative' : 'periods'} />
      {sets.length === 1 && (
        <p className="xs muted">
          Of {sets[0]}. Nothing was measured between the dots, so the line between them is straight.
        </p>
      )}
    </Card>
  ));
}
