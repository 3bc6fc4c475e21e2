/** The first step of the form: the type of the measurement, and its title. */
import type { RequestType } from '@measurement-exchange/sdk';
import { useId } from 'react';
import { TYPE_WORDS } from './form.ts';
import { Step } from './Step.tsx';
import type { Ask } from './useAsk.ts';

export function What({ ask: { form, change, suggestedTitle } }: { ask: Ask }) {
  const id = useId();
  return (
    <Step id="what" number={1} title="What to count" hint="Each choice says what you get back." done>
      <fieldset className="picks">
        <legend className="sr">What to count</legend>
        {(Object.keys(TYPE_WORDS) as RequestType[]).map((type) => (
          <label key={type} className="pick">
            <input type="radio" name="what" checked={form.type === type} onChange={() => change({ type })} />
            <span>
              <b>{TYPE_WORDS[type].label}</b>
              <span className="hint">{TYPE_WORDS[type].meaning}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <div className="field">
        <label htmlFor={id}>Title</label>
        <input
          className="in"
          id={id}
          value={form.title}
          maxLength={200}
          placeholder={suggestedTitle}
          autoComplete="off"
          onChange={(event) => change({ title: event.target.value })}
        />
        <span className="hint">For your list. Only your team can read it.</span>
      </div>
    </Step>
  );
}
