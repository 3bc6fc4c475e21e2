/** The figures of a result as a table: every estimate with its interval. */
import type { MeasurementResult } from '@measurement-exchange/sdk';
import { type Estimate, hours, isBounded, marginOf } from '../../../parts/estimate.ts';
import { count } from '../../../parts/format.ts';
import { PublisherTag } from '../../../parts/Publisher.tsx';

export function Figures({ result }: { result: MeasurementResult }) {
  const { deduplicated } = result.total;
  const parts = deduplicated ? [{ name: undefined, ...deduplicated }] : result.dataProviders;
  return (
    <table className="dense">
      <thead>
        <tr>
          <th>Publishers</th>
          <th>What</th>
          <th className="num">Figure</th>
          <th className="num">95 %</th>
        </tr>
      </thead>
      <tbody>
        {parts.flatMap((figures) =>
          MEMBERS.map(([member, words, show]) => {
            const estimate = figures[member];
            return (
              estimate && (
                <tr key={`${figures.name} ${member}`}>
                  <td>
                    {figures.name ? <PublisherTag name={figures.name} /> : 'All, each person counted once'}
                  </td>
                  <td>{words}</td>
                  <td className="num">
                    <b>{show(estimate.value)}</b>
                  </td>
                  <td className="num">{interval(estimate, show)}</td>
                </tr>
              )
            );
          }),
        )}
      </tbody>
    </table>
  );
}

const MEMBERS = [
  ['reach', 'People reached', count],
  ['impressions', 'Impressions', count],
  ['watchDurationSeconds', 'Watch time', hours],
  ['population', 'People', count],
] as const;

function interval(estimate: Estimate, show: (value: number) => string): string {
  if (!isBounded(estimate)) return 'unknown';
  const [low, high] = estimate.interval;
  return `${show(low)}–${show(high)} (± ${show(marginOf(estimate))})`;
}
