/** The page of a new report. The user fills in a form, or writes the definition as JSON. */
import type { ReportDefinition } from '@measurement-exchange/reports';
import { useLocation } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { A } from '../../parts/A.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Empty, Loaded, NeedsKey } from '../../parts/states.tsx';
import { idOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';
import '../ask/ask.css';
import { Days } from '../ask/days/Days.tsx';
import { Filter } from '../ask/filter/Filter.tsx';
import { type Catalogue, useCatalogue } from '../ask/form/catalogue.ts';
import { Groups } from '../ask/form/Groups.tsx';
import { Step } from '../ask/form/Step.tsx';
import { Budget } from './form/Budget.tsx';
import { DEFAULTS } from './form/definition.ts';
import { Figures } from './form/Figures.tsx';
import './form/form.css';
import { JsonForm } from './form/JsonForm.tsx';
import { blockOf, PlanCard } from './form/PlanCard.tsx';
import { Segments } from './form/Segments.tsx';
import { type Defining, useReportForm } from './form/useReportForm.ts';
import { useReport } from './run/useReport.ts';

export default function NewReport() {
  const { companion } = useSession();
  const from = new URLSearchParams(useLocation().searchStr).get('from');
  return (
    <>
      <nav className="crumb" aria-label="Path">
        <A to="/reports">Reports</A> / New
      </nav>
      <PageHead
        title="New report"
        meta={['One question, the fewest measurements. The plan and its cost show as you type.']}
      />
      {companion === undefined && <NeedsKey what="The measurements of a report are signed with your key." />}
      {companion && (from ? <FromEarlier key={from} id={from} /> : <Fresh />)}
    </>
  );
}

/**
 * If there are at most this many publishers, all of their event groups are picked when the form opens. Otherwise,
 * none are picked.
 */
const PICKED_UP_TO = 4;

function Fresh() {
  const catalogue = useCatalogue([]);
  return (
    <Loaded query={catalogue}>
      {(catalogue) => {
        if (catalogue.groups.size === 0) return <NoGroups />;
        const groups = [...catalogue.groups.values()];
        const publishers = new Set(groups.map(({ dataProvider }) => dataProvider));
        const picked = publishers.size <= PICKED_UP_TO ? groups.map(({ name }) => idOf(name!)) : [];
        return <Form catalogue={catalogue} picked={picked} />;
      }}
    </Loaded>
  );
}

function FromEarlier({ id }: { id: string }) {
  const { principal } = useSession();
  const report = useReport(`${principal}/reports/${id}`);
  return (
    <Loaded query={report}>
      {({ definition }) => (
        <JsonForm initial={{ ...definition, title: `${definition.title}, again`.slice(0, 200) }} />
      )}
    </Loaded>
  );
}

function NoGroups() {
  return (
    <Empty title="No publisher has described its events to you yet">
      <p>
        A publisher creates an event group for you, and then it appears here and in the{' '}
        <A to="/catalog">catalog</A>.
      </p>
    </Empty>
  );
}

function Form({ catalogue, picked }: { catalogue: Catalogue; picked: readonly string[] }) {
  const defining = useReportForm(catalogue, { ...DEFAULTS, groups: picked });
  const [json, setJson] = useState<ReportDefinition>();
  if (json) return <JsonForm initial={json} onForm={() => setJson(undefined)} />;
  const { definition, planned, filterProblem } = defining;
  const block =
    defining.picked.length === 0 ? 'Pick a publisher' : filterProblem ? 'Fix the filter' : blockOf(planned);
  return (
    <div className="cols c21">
      <div className="stack wide">
        <Title defining={defining} />
        <Groups ask={defining} />
        <Days ask={defining} />
        <Filter ask={defining} />
        <Segments defining={defining} />
        <Figures defining={defining} />
        <Budget defining={defining} />
        {definition && (
          <div>
            <button type="button" className="btn" onClick={() => setJson(definition)}>
              Edit as JSON
            </button>
          </div>
        )}
      </div>
      <PlanCard definition={definition} planned={planned} block={block} />
    </div>
  );
}

function Title({ defining: { form, change, suggestedTitle } }: { defining: Defining }) {
  const id = useId();
  return (
    <Step id="what" number={1} title="Title" hint="For your list. Only your team can read it." done>
      <div className="field">
        <label className="sr" htmlFor={id}>
          Title
        </label>
        <input
          className="in"
          id={id}
          value={form.title}
          maxLength={200}
          placeholder={suggestedTitle}
          autoComplete="off"
          onChange={({ target }) => change({ title: target.value })}
        />
      </div>
    </Step>
  );
}
