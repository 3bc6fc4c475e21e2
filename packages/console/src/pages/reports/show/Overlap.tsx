/** Shows the overlap of the segments, and the incremental and exclusive reach of each segment. */
import { useId, useState } from 'react';
import { PEOPLE, SHARE } from '../../../charts/index.ts';
import { around, type Interval } from '../../../format.ts';
import { Chart, Swatch } from '../../../parts/Chart.tsx';
import { addedChart, overlapChart, ratioOf } from '../../../reports/charts.ts';
import { Card } from './Card.tsx';
import type { Labeled } from './shown.ts';

export function Overlap({ view, labels }: Labeled) {
  const name = useId();
  const [isShare, setShare] = useState(false);
  if (view.segments.length < 2 || view.overlap.length < 2) return null;
  const choices = [
    { text: 'People', value: false },
    { text: '% of reach', value: true },
  ];
  return (
    <Card
      title="Who saw it where"
      hint="Every person is in exactly one row: reached by the marked ones and by no other. Lines show the 95 % interval."
      actions={
        view.everyone && (
          <fieldset className="seg">
            <legend className="sr">Show</legend>
            {choices.map(({ text, value }) => (
              <label key={text}>
                <input
                  type="radio"
                  name={name}
                  checked={isShare === value}
                  onChange={() => setShare(value)}
                />
                <span>{text}</span>
              </label>
            ))}
          </fieldset>
        )
      }
    >
      <Chart chart={overlapChart(view, labels, isShare)} file="overlap" />
    </Card>
  );
}

export function WhatEachAdds({ view, labels }: Labeled) {
  const [order, setOrder] = useState(() => {
    const wanted = largestFirst(view.alone.map((of) => of?.value ?? 0));
    // With many segments, the report has only the figures for the order of its definition.
    return addedChart(view, labels, wanted) === undefined ? [...view.segments.keys()] : wanted;
  });
  const chart = addedChart(view, labels, order);
  if (view.segments.length < 2 || chart === undefined) return null;
  const isFixed = order.length > 2 && addedChart(view, labels, order.toReversed()) === undefined;
  return (
    <Card title="What each one adds" hint="In the order you choose. Another order needs no new measurement.">
      <Chart chart={chart} file="incremental" />
      {!isFixed && <Order {...{ order, setOrder, labels }} />}
      <hr />
      <OnlyHere view={view} labels={labels} />
    </Card>
  );
}

const largestFirst = (values: number[]) => [...values.keys()].sort((a, b) => values[b]! - values[a]!);

function Order({
  order,
  setOrder,
  labels,
}: Pick<Labeled, 'labels'> & { order: number[]; setOrder: (order: number[]) => void }) {
  const move = (at: number) => setOrder(order.with(at - 1, order[at]!).with(at, order[at - 1]!));
  return (
    <div className="row order">
      {order.slice(1).map((segment, i) => (
        <button key={segment} type="button" className="btn sm plain" onClick={() => move(i + 1)}>
          Move <Swatch index={labels[segment]!.place} /> <bdi className="cut">{labels[segment]!.label}</bdi>{' '}
          up
        </button>
      ))}
    </div>
  );
}

function OnlyHere({ view: { added, alone, segments }, labels }: Labeled) {
  const all = (1 << segments.length) - 1;
  return (
    <>
      <h3>
        Only here <span className="muted">(exclusive reach)</span>
      </h3>
      <table className="dense fold">
        <thead>
          <tr>
            <th scope="col">Where</th>
            <th scope="col" className="num">
              Only here
            </th>
            <th scope="col" className="num">
              Of its reach
            </th>
          </tr>
        </thead>
        <tbody>
          {labels.map(({ label, place }, i) => {
            const only = added.find(
              ({ segment, after }) => segment === i && after === all - (1 << i),
            )?.people;
            return (
              <tr key={segments[i]!.name}>
                <td>
                  <span className="tag">
                    <Swatch index={place} />
                    <bdi className="cut">{label}</bdi>
                  </span>
                </td>
                <Cell label="Only here" of={only} unit={PEOPLE} />
                <Cell
                  label="Of its reach"
                  of={only && alone[i] ? ratioOf(only, alone[i]) : undefined}
                  unit={SHARE}
                />
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}

function Cell({
  label,
  of,
  unit,
}: {
  label: string;
  of: { value: number; interval: Interval } | undefined;
  unit: typeof PEOPLE;
}) {
  return (
    <td className="num" data-l={label}>
      {of ? (
        <>
          <b>{unit.text(of.value)}</b> <span className="xs muted">{around(of.value, of.interval, unit)}</span>
        </>
      ) : (
        <span className="muted">not known</span>
      )}
    </td>
  );
}
