/** Shows the definition of a report, and a note once all of its answers are verified. */
import type { ReportDefinition } from '@measurement-exchange/reports';
import { count } from '../../../format.ts';
import { Icon } from '../../../parts/Icon.tsx';
import { isolated } from '../../../parts/names.ts';
import { PublisherTag } from '../../../parts/Publisher.tsx';
import { useReferences } from '../../../parts/useReferences.ts';
import type { NeedView, SegmentView } from '../../../reports/types.ts';
import { METRIC_WORDS, periodsWords } from '../../../reports/words.ts';
import { idOf } from '../../../session/roles.ts';
import { Card } from '../show/Card.tsx';

export function Definition({
  definition,
  segments,
  needs,
}: {
  definition: ReportDefinition;
  segments: readonly SegmentView[];
  needs: readonly NeedView[];
}) {
  const { sets = {}, figures, budget, groups = {} } = definition;
  return (
    <Card title="Definition" actions={<CopyDefinition definition={definition} />}>
      <dl className="kv">
        <dt>Segments</dt>
        <dd>
          {segments.map(({ name, eventGroups, filter }) => (
            <div key={name}>
              <b>{name}</b>: <EventGroups names={eventGroups} />
              {filter && (
                <>
                  , where <code>{filter}</code>
                </>
              )}
            </div>
          ))}
        </dd>
        {Object.keys(sets).length > 0 && (
          <>
            <dt>Sets</dt>
            <dd>
              {Object.entries(sets).map(([name, expression]) => (
                <div key={name}>
                  <b>{name}</b>: <code>{expression}</code>
                </div>
              ))}
            </dd>
          </>
        )}
        <dt>Figures</dt>
        <dd>
          {figures.map(({ metric, of, periods = 'total', cumulative = false, groups: by }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two requests may be equal, and they keep their order
            <div key={i}>
              {[
                `${METRIC_WORDS[metric]} of ${of.join(', ')}`,
                periodsWords(periods, cumulative),
                by && `by ${groups[by]?.by.join(' and ')}`,
              ]
                .filter(Boolean)
                .join(', ')}
            </div>
          ))}
        </dd>
        <dt>Budget</dt>
        <dd>
          {budget.rho === undefined ? `epsilon ${budget.epsilon}` : `rho ${budget.rho}`} for each publisher
          and day
        </dd>
      </dl>
      {needs.length > 0 && needs.every(({ measured }) => measured !== undefined) && (
        <div className="note ok">
          <Icon name="shield" />
          <div>
            <b>Verified where your keys are.</b> Every signature and certificate of {count(needs.length)}{' '}
            numbers holds.
          </div>
        </div>
      )}
    </Card>
  );
}

/** Shows the publisher's reference of each event group, or the ID of an event group without a reference. */
function EventGroups({ names }: { names: readonly string[] }) {
  const references = useReferences();
  const referenceOf = (name: string) => references.get(idOf(name))?.eventGroupReferenceId || idOf(name);
  const byPublisher = Map.groupBy(names, (name) => name.split('/').slice(0, 2).join('/'));
  return [...byPublisher].map(([publisher, own]) => (
    <span key={publisher}>
      <PublisherTag name={publisher} />{' '}
      <span className="soft" title={own.join(', ')}>
        {own.map((name) => isolated(referenceOf(name))).join(', ')}
      </span>{' '}
    </span>
  ));
}

function CopyDefinition({ definition }: { definition: ReportDefinition }) {
  const copy = () => void navigator.clipboard.writeText(`${JSON.stringify(definition, null, 2)}\n`);
  return (
    <button type="button" className="btn sm" onClick={copy}>
      <Icon name="copy" /> Copy JSON
    </button>
  );
}
