/** Draws the expected error of the result before anything is sent. */
import { useId, useState } from 'react';
import { counts, previewChart } from '../../../charts/index.ts';
import { count, percent } from '../../../format.ts';
import { Drawing } from '../../../parts/Chart.tsx';
import { axisFor, FIGURE_WORDS, marginText, relative } from './expected.ts';
import type { Ask } from './useAsk.ts';

export function Preview({ ask: { planned, assumed, assume } }: { ask: Ask }) {
  const id = useId();
  const [axis, setAxis] = useState<number>();
  const [figure, shares] = planned.plan?.figures ?? [];
  const margin = figure?.margin;
  const limit = margin ? axisFor(margin, axis) : undefined;
  if (limit !== undefined && limit !== axis) setAxis(limit);
  if (figure === undefined || margin === undefined || limit === undefined) {
    return <p className="soft">The expected error shows here as soon as the question can be checked.</p>;
  }
  const { title, assumed: of } = FIGURE_WORDS[figure.figure];
  const alone = planned.plan?.protocol === 'direct' && (planned.plan?.dataProviders.length ?? 0) > 1;
  return (
    <div className={planned.isCurrent ? 'stack tight' : 'stack tight stale'}>
      <label className="row" htmlFor={id}>
        If about{' '}
        <input
          className="in short"
          id={id}
          inputMode="numeric"
          defaultValue={count(assumed)}
          onChange={({ target }) => {
            const value = Number(target.value.replaceAll(/[,\s]/g, ''));
            if (Number.isInteger(value) && value > 0 && value <= 1e9) assume(value);
          }}
        />{' '}
        {of}
      </label>
      <div className="row" role="status">
        <b className="mid">± {marginText(figure)}</b>
        <span className="sm soft">
          19 of 20 results fall within {count(Math.max(0, assumed - margin))} to {count(assumed + margin)} (
          {relative(margin, assumed)}){alone && ', for each publisher alone'}
        </span>
      </div>
      <Drawing
        tree={previewChart('Expected spread of the result', { margin, limit, unit: counts(title) }).drawing}
      />
      {shares?.margin !== undefined && (
        <span className="sm soft">Each share of the frequencies: ± {percent(shares.margin, 2)}</span>
      )}
    </div>
  );
}
