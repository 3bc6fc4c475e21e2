/** The step of the form that sets how much privacy budget the report may use. */
import { useId } from 'react';
import { percent } from '../../../format.ts';
import { Step } from '../../ask/form/Step.tsx';
import type { Defining } from './useReportForm.ts';

/** The slider's values are decimal logarithms: −3 is a thousandth of a usual daily budget, and 0 is all of it. */
const SLIDER = { min: -3, max: 0, step: 0.05 };
const TARGETS = [1, 2, 5, 10];

export function Budget({ defining: { form, change } }: { defining: Defining }) {
  const [slider, target] = [useId(), useId()];
  return (
    <Step
      id="budget"
      number={7}
      title="Privacy and precision"
      hint="Move the slider and watch the expected error of every figure."
      done
    >
      <div className="field">
        <label htmlFor={slider}>
          At most this much of a usual daily budget{' '}
          <output htmlFor={slider}>{shareText(form.budgetShare)}</output>
        </label>
        <input
          id={slider}
          type="range"
          {...SLIDER}
          value={Math.log10(form.budgetShare)}
          aria-valuetext={shareText(form.budgetShare)}
          onChange={({ target }) =>
            change({ budgetShare: Number((10 ** Number(target.value)).toPrecision(2)) })
          }
        />
        <div className="row between hint">
          <span>cheaper, more private</span>
          <span>closer, more exact</span>
        </div>
      </div>
      <div className="field">
        <label htmlFor={target}>Wanted precision of the total reach</label>
        <select
          className="in"
          id={target}
          value={form.precision ?? ''}
          onChange={({ target }) =>
            change({ precision: target.value === '' ? undefined : Number(target.value) })
          }
        >
          <option value="">As exact as the budget allows</option>
          {TARGETS.map((value) => (
            <option key={value} value={value}>
              ± {value} %, as cheaply as possible
            </option>
          ))}
        </select>
        <span className="hint">If the budget is too small for it, the plan says which budget would do.</span>
      </div>
    </Step>
  );
}

export const shareText = (share: number) => percent(share, share < 0.01 ? 2 : share < 0.1 ? 1 : 0);
