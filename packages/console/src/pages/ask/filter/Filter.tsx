/** The filter step in the forms for measurements and reports. It offers the attributes of the picked event groups. */
import { useMemo } from 'react';
import { Term } from '../../../parts/Term.tsx';
import { Step } from '../form/Step.tsx';
import type { Picking } from '../form/usePicking.ts';
import { offeredAttributes } from './attributes.ts';
import { FilterField } from './FilterField.tsx';

export function Filter({ ask }: { ask: Picking }) {
  const { form, change, picked, publishers, filterProblem } = ask;
  const isPopulation = form.type === 'population';
  const attributes = useMemo(() => (isPopulation ? [] : offeredAttributes(picked)), [isPopulation, picked]);
  const silent = isPopulation
    ? []
    : publishers.filter(({ groups }) => groups.some((of) => of.attributes === undefined));
  return (
    <Step
      id="filter"
      number={4}
      title="Filter"
      hint={
        isPopulation
          ? 'Optional. Leave empty to count everyone.'
          : 'Optional. Leave empty to count all events.'
      }
      done={filterProblem === undefined}
    >
      <div className="row between">
        <span className="lab" id="ask-filter-label">
          {isPopulation ? 'Only people where' : 'Only events where'}
        </span>
        <span className="hint">
          <Term word="Filter language">
            CEL, the Common Expression Language. Compare with == and !=, combine with && and ||, put text in
            quotes.
          </Term>{' '}
          · <kbd>Ctrl</kbd> <kbd>Space</kbd> completes
        </span>
      </div>
      <FilterField
        value={form.filter}
        onChange={(filter) => change({ filter })}
        attributes={attributes}
        publishers={publishers}
        problem={filterProblem}
      />
      <p className="hint">
        {isPopulation
          ? 'Publishers check the attributes of a population themselves.'
          : 'Attributes come from the event groups you picked. Nothing is sent, and nothing charged, until the filter is right.'}
        {silent.length > 0 && (
          <>
            {' '}
            <bdi>{silent.map(({ label }) => label).join(', ')}</bdi> lists no attributes, so only the syntax
            is checked for it.
          </>
        )}
      </p>
    </Step>
  );
}
