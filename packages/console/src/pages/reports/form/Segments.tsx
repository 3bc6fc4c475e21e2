/** The step of the form that names segments, and combines them into sets. */
import { useId } from 'react';
import { Swatch } from '../../../parts/Chart.tsx';
import { Icon } from '../../../parts/Icon.tsx';
import { usePublishers } from '../../../parts/Publisher.tsx';
import { Term } from '../../../parts/Term.tsx';
import { Step } from '../../ask/form/Step.tsx';
import { problemsAt } from './problems.ts';
import type { Defining } from './useReportForm.ts';

export function Segments({ defining }: { defining: Defining }) {
  const { form, change, segments } = defining;
  const choices = [
    { by: 'publisher', label: 'Each publisher', hint: 'All of its picked event groups together' },
    { by: 'eventGroup', label: 'Each event group', hint: 'To compare campaigns or media' },
  ] as const;
  return (
    <Step
      id="segments"
      number={5}
      title="What to compare"
      hint="Segments are what overlaps are counted between."
      done={segments.length > 0}
    >
      <fieldset className="picks">
        <legend className="sr">One segment for</legend>
        {choices.map(({ by, label, hint }) => (
          <label key={by} className="pick">
            <input
              type="radio"
              name="segments"
              checked={form.segmentsBy === by}
              onChange={() => change({ segmentsBy: by })}
            />
            <span>
              <b>{label}</b>
              <span className="hint">{hint}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <SegmentNames defining={defining} />
      <Sets defining={defining} />
    </Step>
  );
}

function SegmentNames({ defining: { form, change, segments, planned } }: { defining: Defining }) {
  const id = useId();
  const publisher = usePublishers();
  if (segments.length === 0) return null;
  return (
    <div className="segments">
      {segments.map(({ key, name, dataProvider, eventGroups }) => {
        const { label, index } = publisher(dataProvider);
        const problem = problemsAt(planned, `segments[${name}]`)[0];
        return (
          <div key={key} className="field">
            <label htmlFor={`${id}-${key}`}>
              <span className="tag">
                <Swatch index={index} /> <bdi className="cut">{label}</bdi>
              </span>{' '}
              <span className="muted">
                {eventGroups.length === 1 ? '1 event group' : `${eventGroups.length} event groups`}
              </span>
            </label>
            <input
              className="in mono"
              id={`${id}-${key}`}
              value={name}
              maxLength={40}
              autoComplete="off"
              spellCheck={false}
              aria-invalid={problem !== undefined}
              aria-describedby={problem && `${id}-${key}-problem`}
              onChange={({ target }) => change({ names: { ...form.names, [key]: target.value.trim() } })}
            />
            {problem && (
              <span className="xs bad" id={`${id}-${key}-problem`}>
                {problem}
              </span>
            )}
          </div>
        );
      })}
    </div>
  );
}

function Sets({ defining: { form, change, segments, planned } }: { defining: Defining }) {
  const { sets } = form;
  const set = (at: number, part: object) =>
    change({ sets: sets.map((of, i) => (i === at ? { ...of, ...part } : of)) });
  const example = segments.length > 1 ? `${segments[0]!.name} - ${segments[1]!.name}` : 'tv - video';
  const add = () =>
    change({
      sets: [...sets, { id: Math.max(0, ...sets.map(({ id }) => id)) + 1, name: '', expression: '' }],
    });
  return (
    <div className="stack tight">
      <h3>
        Sets{' '}
        <span className="hint">
          <Term word="How to write one">
            Names of segments with | (or), & (and), - (without) and parentheses, such as tv - (video |
            social). Every expression has a reach.
          </Term>
        </span>
      </h3>
      {sets.map(({ id, name, expression }, i) => {
        const problem = problemsAt(planned, `sets[${name.trim()}]`)[0];
        return (
          <div key={id} className="set-row">
            <input
              className="in mono"
              aria-label={`Name of set ${i + 1}`}
              placeholder="name"
              value={name}
              maxLength={40}
              onChange={({ target }) => set(i, { name: target.value })}
            />
            <input
              className="in mono"
              aria-label={`Expression of set ${i + 1}`}
              placeholder={example}
              value={expression}
              maxLength={2000}
              spellCheck={false}
              aria-invalid={problem !== undefined}
              onChange={({ target }) => set(i, { expression: target.value })}
            />
            <button
              type="button"
              className="btn icon"
              aria-label={`Remove set ${i + 1}`}
              onClick={() => change({ sets: sets.filter((of) => of.id !== id) })}
            >
              <Icon name="x" />
            </button>
            {problem && <span className="xs bad">{problem}</span>}
          </div>
        );
      })}
      <div>
        <button type="button" className="btn sm" onClick={add} disabled={segments.length === 0}>
          <Icon name="plus" /> Add a set
        </button>
      </div>
    </div>
  );
}
