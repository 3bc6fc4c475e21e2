/**
 * A text area for the report's definition as JSON. A definition in JSON can have parts that the form does not offer.
 */
import type { ReportDefinition } from '@measurement-exchange/reports';
import { useId, useMemo, useState } from 'react';
import { Step } from '../../ask/form/Step.tsx';
import { blockOf, PlanCard } from './PlanCard.tsx';
import { useReportPlan } from './useReportPlan.ts';

export function JsonForm({ initial, onForm }: { initial: ReportDefinition; onForm?: () => void }) {
  const id = useId();
  const [text, setText] = useState(() => JSON.stringify(initial, null, 2));
  const { definition, problem } = useMemo(() => parsed(text), [text]);
  const planned = useReportPlan(definition);
  return (
    <div className="cols c21">
      <div className="stack wide">
        <Step
          id="json"
          number={1}
          title="Definition"
          hint="Segments, sets, groups, figures and a budget, as mex report reads them from a file."
          done={problem === undefined}
        >
          <div className="field">
            <label className="sr" htmlFor={id}>
              Definition
            </label>
            <textarea
              className="in mono definition"
              id={id}
              rows={Math.min(60, text.split('\n').length + 1)}
              spellCheck={false}
              value={text}
              aria-invalid={problem !== undefined}
              aria-describedby={`${id}-problem`}
              onChange={({ target }) => setText(target.value)}
            />
            <span className="xs bad" id={`${id}-problem`}>
              {problem}
            </span>
          </div>
          {onForm && (
            <div>
              <button type="button" className="btn" onClick={onForm}>
                Back to the form
              </button>{' '}
              <span className="hint">The form does not take over changes made here.</span>
            </div>
          )}
        </Step>
      </div>
      <PlanCard definition={definition} planned={planned} block={problem ?? blockOf(planned)} />
    </div>
  );
}

function parsed(text: string): { definition?: ReportDefinition; problem?: string } {
  try {
    const definition = JSON.parse(text) as ReportDefinition;
    const isDefinition = typeof definition === 'object' && definition !== null && 'segments' in definition;
    return isDefinition && typeof definition.interval === 'object'
      ? { definition }
      : { problem: 'Write an object with title, interval, segments, figures and budget' };
  } catch (error) {
    return { problem: `Not JSON yet: ${(error as Error).message}` };
  }
}
