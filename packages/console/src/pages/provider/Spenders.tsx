/** The advertisers and measurements that spent the budget. */
import type { BudgetView } from '../../companion/methods.ts';
import { count, dateRange, moment } from '../../format.ts';
import { A } from '../../parts/A.tsx';
import { capital, partyName } from '../../parts/names.ts';
import { VirtualTable } from '../../parts/VirtualTable.tsx';
import { idOf } from '../../session/roles.ts';
import { amountWords, costWords, shareOf } from './budgetDays.ts';

const DAY_MS = 86_400_000;

export function Spenders({ view }: { view: BudgetView }) {
  if (view.measurements.length === 0) return null;
  return (
    <>
      <section className="card">
        <header>
          <h2>By advertiser</h2>
          <p>The most that each spent on one reference and day.</p>
        </header>
        <table className="fold dense">
          <thead>
            <tr>
              <th>Advertiser</th>
              <th className="num">Measurements</th>
              <th className="num">Most on a day</th>
            </tr>
          </thead>
          <tbody>
            {view.consumers.map(({ measurementConsumer, measurements, most }) => (
              <tr key={measurementConsumer}>
                <td>
                  <bdi>{measurementConsumer ? partyName(measurementConsumer) : 'earlier version'}</bdi>
                </td>
                <td className="num" data-l="Measurements">
                  {count(measurements)}
                </td>
                <td className="num" data-l="Most on a day">
                  {view.limit && <b>{costWords(shareOf(most, view.limit))}</b>}
                  <span className="sub">{amountWords(most)}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <section className="card">
        <header>
          <h2>By measurement</h2>
          <p>Those that were charged, newest first.</p>
        </header>
        <MeasurementTable view={view} />
      </section>
    </>
  );
}

function MeasurementTable({ view: { measurements, limit } }: { view: BudgetView }) {
  return (
    <VirtualTable
      rows={measurements}
      keyOf={({ requisition }) => requisition}
      head={
        <>
          <th>Asked</th>
          <th>Advertiser</th>
          <th>References</th>
          <th>Days</th>
          <th className="num">Cost a day</th>
        </>
      }
    >
      {({ requisition, measurement, askTime, references, firstDay, lastDay, cost }) => (
        <>
          <td className="nowrap">
            <A to={`/requests/${idOf(requisition)}`}>{askTime ? moment(askTime) : idOf(requisition)}</A>
          </td>
          <td data-l="Advertiser">
            <bdi>{measurement && capital(measurement.split('/')[1]!)}</bdi>
          </td>
          <td data-l="References">
            <code className="lines">
              <bdi>{references.join(', ')}</bdi>
            </code>
          </td>
          <td data-l="Days" className="nowrap">
            {dateRange(firstDay, new Date(Date.parse(lastDay) + DAY_MS).toISOString())}
          </td>
          <td className="num" data-l="Cost a day">
            {limit && costWords(shareOf(cost, limit))}
            <span className="sub">{amountWords(cost)}</span>
          </td>
        </>
      )}
    </VirtualTable>
  );
}
