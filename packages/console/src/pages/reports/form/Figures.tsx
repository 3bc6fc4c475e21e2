/** The step of the form that picks the figures. */
import type { ReactNode } from 'react';
import { count } from '../../../format.ts';
import { NumberField } from '../../ask/form/NumberField.tsx';
import { Step } from '../../ask/form/Step.tsx';
import type { ReportForm } from './definition.ts';
import type { Defining } from './useReportForm.ts';

export function Figures({ defining }: { defining: Defining }) {
  const { form, change, segments } = defining;
  const combinations = 2 ** segments.length - 1;
  return (
    <Step
      id="figures"
      number={6}
      title="Figures"
      hint="The reach of all together is always counted, each person once."
      done
    >
      <div className="picks">
        <Choice
          label="Overlap"
          hint={
            segments.length > 1
              ? `Who saw it where, what each one adds: ${count(combinations)} combinations`
              : 'Needs two segments or more'
          }
          isChecked={form.hasOverlap && segments.length > 1}
          isDisabled={segments.length < 2}
          onChange={(hasOverlap) => change({ hasOverlap })}
        />
        <Choice
          label="Frequency"
          hint="How often people were reached, up to the last frequency"
          isChecked={form.hasFrequency}
          onChange={(hasFrequency) => change({ hasFrequency })}
        />
        <Choice
          label="Impressions"
          hint="Average frequency, rating points, and what a cap would save"
          isChecked={form.hasImpressions}
          onChange={(hasImpressions) => change({ hasImpressions })}
        />
        <Choice
          label="Watch time"
          hint="For how long it was watched"
          isChecked={form.hasWatchTime}
          onChange={(hasWatchTime) => change({ hasWatchTime })}
        />
      </div>
      {form.hasFrequency && (
        <NumberField
          label="Last frequency"
          value={form.maximumFrequency}
          onValue={(maximumFrequency) => change({ maximumFrequency })}
          min={2}
          max={20}
          whole
          hint="It means this often or more."
        />
      )}
      <OverTime form={form} change={change} />
      <GroupBy defining={defining} />
    </Step>
  );
}

function Choice({
  label,
  hint,
  isChecked,
  isDisabled = false,
  onChange,
}: {
  label: string;
  hint: ReactNode;
  isChecked: boolean;
  isDisabled?: boolean;
  onChange: (isChecked: boolean) => void;
}) {
  return (
    <label className={isDisabled ? 'pick no' : 'pick'}>
      <input
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span>
        <b>{label}</b>
        <span className="hint">{hint}</span>
      </span>
    </label>
  );
}

const OVER_TIME = { none: 'Only the total', weekly: 'Week by week', daily: 'Day by day' } as const;

function OverTime({ form, change }: { form: ReportForm; change: (part: Partial<ReportForm>) => void }) {
  return (
    <fieldset className="stack tight">
      <legend className="lab">Reach over time, cumulative</legend>
      <div className="seg">
        {(Object.keys(OVER_TIME) as (keyof typeof OVER_TIME)[]).map((overTime) => (
          <label key={overTime}>
            <input
              type="radio"
              name="over-time"
              checked={form.overTime === overTime}
              onChange={() => change({ overTime })}
            />
            <span>{OVER_TIME[overTime]}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** Lets the user pick the attributes of the population by which the reach is broken down. */
function GroupBy({ defining: { form, change, catalogue } }: { defining: Defining }) {
  const attributes = Object.entries(catalogue.attributes);
  if (attributes.length === 0) {
    return (
      <p className="hint">
        The population of this exchange has no attributes, such as age, to break it down by.
      </p>
    );
  }
  const toggle = (name: string, isOn: boolean) =>
    change({ groupBy: isOn ? [...form.groupBy, name] : form.groupBy.filter((of) => of !== name) });
  return (
    <fieldset className="stack tight">
      <legend className="lab">Break down by</legend>
      <div className="row">
        {attributes.map(([name, values]) => (
          <label key={name} className="row by">
            <input
              type="checkbox"
              checked={form.groupBy.includes(name)}
              onChange={({ target }) => toggle(name, target.checked)}
            />
            <span>
              <bdi>{name}</bdi> <span className="hint">{values.join(', ')}</span>
            </span>
          </label>
        ))}
      </div>
      <p className="hint">All groups together cost what one costs, because nobody is in two of them.</p>
    </fieldset>
  );
}
