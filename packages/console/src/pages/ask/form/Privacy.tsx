/** The step of the form that sets the privacy parameters. A slider shows how privacy affects the expected error. */
import { useId } from 'react';
import { Term } from '../../../parts/Term.tsx';
import { SLIDER, toEpsilon, toPosition } from './expected.ts';
import { More } from './More.tsx';
import { NumberField } from './NumberField.tsx';
import { Preview } from './Preview.tsx';
import { Step } from './Step.tsx';
import type { Ask } from './useAsk.ts';

export function Privacy({ ask }: { ask: Ask }) {
  const isPopulation = ask.form.type === 'population';
  return (
    <Step
      id="privacy"
      number={6}
      title="Privacy and precision"
      hint={
        isPopulation
          ? 'A population is counted without noise, and charges nothing.'
          : 'Move the slider and watch how far a result may be off.'
      }
      done
    >
      {!isPopulation && (
        <div className="cols c2">
          <Epsilon ask={ask} />
          <Preview ask={ask} />
        </div>
      )}
      <More ask={ask} />
    </Step>
  );
}

function Epsilon({ ask: { form, change } }: { ask: Ask }) {
  const id = useId();
  return (
    <div className="stack">
      <div className="field">
        <label htmlFor={id}>
          Noise (
          <Term word="epsilon">
            How much one answer may give away about one person. Smaller means more noise and better privacy.
          </Term>
          ) <output htmlFor={id}>{form.epsilon}</output>
        </label>
        <input
          id={id}
          type="range"
          {...SLIDER}
          value={toPosition(form.epsilon)}
          aria-valuetext={`epsilon ${form.epsilon}`}
          onChange={({ target }) => change({ epsilon: toEpsilon(Number(target.value)) })}
        />
        <div className="row between hint">
          <span>cheaper, more private</span>
          <span>closer, more exact</span>
        </div>
      </div>
      <NumberField
        label="Epsilon, exactly"
        value={form.epsilon}
        onValue={(epsilon) => change({ epsilon })}
        min={0}
      />
      <NumberField
        label="Delta"
        value={form.delta}
        onValue={(delta) => change({ delta })}
        min={0}
        hint="The chance that the noise protects less. Keep it far below one in the number of people."
      />
    </div>
  );
}
