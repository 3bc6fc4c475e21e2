import { Chart } from '../../../parts/Chart.tsx';
import { groupCharts } from '../../../reports/charts.ts';
import { Card } from './Card.tsx';
import type { Shown } from './shown.ts';

export function Groups({ view, labels, sizeOf }: Shown) {
  return groupCharts(view, labels, sizeOf).map(({ chart, of, attributes, isShare }) => (
    <Card
      key={chart.title}
      title={`By ${attributes.join(' and ')}`}
      hint={`${isShare ? 'Share of each group that was' : 'People of each group who were'} reached by ${of}. All groups together cost what one costs, because nobody is in two of them.`}
    >
      <Chart chart={chart} file={`by-${attributes.join('-')}`} />
    </Card>
  ));
}
