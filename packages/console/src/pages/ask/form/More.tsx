/** The step of the form with parameters that rarely change. */
import { useId } from 'react';
import { NumberField } from './NumberField.tsx';
import type { Ask } from './useAsk.ts';

export function More({ ask }: { ask: Ask }) {
  const { form, change } = ask;
  const id = useId();
  return (
    <details className="more">
      <summary>More: caps, sample, model line, reference</summary>
      <div className="cols c2">
        <Caps ask={ask} />
        {form.type !== 'population' && <Sample ask={ask} />}
        <div className="field">
          <label htmlFor={`${id}-model`}>Model line</label>
          <input
            className="in"
            id={`${id}-model`}
            value={form.modelLine}
            maxLength={255}
            onChange={({ target }) => change({ modelLine: target.value })}
          />
          <span className="hint">Chooses the population. Empty: the default one.</span>
        </div>
        <div className="field">
          <label htmlFor={`${id}-reference`}>Your reference</label>
          <input
            className="in"
            id={`${id}-reference`}
            value={form.referenceId}
            maxLength={255}
            onChange={({ target }) => change({ referenceId: target.value })}
          />
          <span className="hint">Stored in the open with the measurement, for your own systems.</span>
        </div>
      </div>
    </details>
  );
}

function Caps({ ask: { form, change } }: { ask: Ask }) {
  switch (form.type) {
    case 'reachAndFrequency':
      return (
        <NumberField
          label="Count how often, up to"
          value={form.maximumFrequency}
          onValue={(maximumFrequency) => change({ maximumFrequency })}
          {...{ min: 2, whole: true, hint: `The last bar is shown as ${form.maximumFrequency}+` }}
        />
      );
    case 'impression':
      return (
        <NumberField
          label="Impressions of one person count up to"
          value={form.impressionsPerPerson}
          onValue={(impressionsPerPerson) => change({ impressionsPerPerson })}
          {...{ min: 1, whole: true, hint: 'A higher cap needs more noise.' }}
        />
      );
    case 'duration':
      return (
        <NumberField
          label="Watch time of one person counts up to, in seconds"
          value={form.secondsPerPerson}
          onValue={(secondsPerPerson) => change({ secondsPerPerson })}
          {...{ min: 0.001, hint: 'A higher cap needs more noise.' }}
        />
      );
    default:
      return null;
  }
}

function Sample({ ask: { form, change } }: { ask: Ask }) {
  return (
    <>
      <NumberField
        label="Share of people to count, in percent"
        value={round(form.sampleWidth * 100)}
        onValue={(percent) => change({ sampleWidth: percent / 100 })}
        {...{ min: 0.01, max: 100, hint: 'A smaller sample is faster and less exact.' }}
      />
      <NumberField
        label="The sample starts at, in percent"
        value={round(form.sampleStart * 100)}
        onValue={(percent) => change({ sampleStart: percent / 100 })}
        {...{ min: 0, max: 100, hint: 'The same start and share count the same people again.' }}
      />
    </>
  );
}

/** Removes rounding errors of percentages, such as in 0.07 * 100. */
const round = (value: number) => Number(value.toPrecision(12));
