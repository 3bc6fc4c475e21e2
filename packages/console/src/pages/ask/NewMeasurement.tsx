/** The page on which a consumer creates a measurement. */
import { useLocation } from '@tanstack/react-router';
import { useQuestion } from '../../live/useOpened.ts';
import { A } from '../../parts/A.tsx';
import { Icon } from '../../parts/Icon.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Empty, ErrorNote, Loaded, NeedsKey } from '../../parts/states.tsx';
import { idOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';
import './ask.css';
import { Days } from './days/Days.tsx';
import { Filter } from './filter/Filter.tsx';
import { type Catalogue, useCatalogue } from './form/catalogue.ts';
import { EarlierOnes } from './form/EarlierOnes.tsx';
import { type AskForm, type Cloned, DEFAULTS, formOf } from './form/form.ts';
import { Groups } from './form/Groups.tsx';
import { Methods } from './form/Methods.tsx';
import { Privacy } from './form/Privacy.tsx';
import { Summary } from './form/Summary.tsx';
import { useAsk } from './form/useAsk.ts';
import { What } from './form/What.tsx';

export default function NewMeasurement() {
  const { companion } = useSession();
  const search = new URLSearchParams(useLocation().searchStr);
  const [from, groups] = [search.get('from'), search.get('groups')];
  return (
    <>
      <PageHead
        above={{ to: '/measurements', text: 'Measurements' }}
        title="New measurement"
        meta={['Everything is checked as you type. Nothing is sent until you press Send.']}
        {...(companion && { actions: <EarlierOnes /> })}
      />
      {companion === undefined && <NeedsKey what="A measurement is signed with your key." />}
      {companion && from && <FromEarlier key={from} id={from} />}
      {companion && !from && <Fresh key={groups} groups={groups?.split(',').filter(Boolean) ?? []} />}
    </>
  );
}

function Fresh({ groups }: { groups: readonly string[] }) {
  const catalogue = useCatalogue(groups);
  return (
    <Loaded query={catalogue}>
      {(catalogue) => <Form catalogue={catalogue} initial={{ ...DEFAULTS, groups }} />}
    </Loaded>
  );
}

function FromEarlier({ id }: { id: string }) {
  const { principal } = useSession();
  const question = useQuestion(`${principal}/measurements/${id}`);
  return (
    <Loaded query={question}>
      {({ question, error }) =>
        question ? (
          <FromQuestion cloned={formOf(question)} />
        ) : (
          <ErrorNote error={new Error(error ?? 'This measurement does not contain its question.')} />
        )
      }
    </Loaded>
  );
}

function FromQuestion({ cloned: { form, publishers, notes } }: { cloned: Cloned }) {
  const catalogue = useCatalogue(form.groups);
  return (
    <Loaded query={catalogue}>
      {(catalogue) => {
        const ofPopulation = [...catalogue.groups.values()].filter(({ dataProvider }) =>
          publishers.includes(dataProvider!),
        );
        const groups = form.type === 'population' ? ofPopulation.map(({ name }) => idOf(name!)) : form.groups;
        const gone = groups.filter((id) => !catalogue.groups.has(id)).length;
        return (
          <>
            <Notes notes={gone > 0 ? [...notes, `${gone} of its event groups no longer exist.`] : notes} />
            <Form catalogue={catalogue} initial={{ ...form, groups }} />
          </>
        );
      }}
    </Loaded>
  );
}

function Notes({ notes }: { notes: readonly string[] }) {
  return notes.map((note) => (
    <div key={note} className="note">
      <Icon name="info" />
      <div>{note}</div>
    </div>
  ));
}

function Form({ catalogue, initial }: { catalogue: Catalogue; initial: AskForm }) {
  const ask = useAsk(catalogue, initial);
  if (catalogue.groups.size === 0) {
    return (
      <Empty title="No publisher has described its events to you yet">
        <p>
          A publisher creates an event group for you, and then it appears here and in the{' '}
          <A to="/catalog">catalog</A>.
        </p>
      </Empty>
    );
  }
  return (
    <div className="cols c21">
      <div className="stack wide">
        <What ask={ask} />
        <Groups ask={ask} />
        {ask.form.type !== 'population' && <Days ask={ask} />}
        <Filter ask={ask} />
        <Methods ask={ask} />
        <Privacy ask={ask} />
      </div>
      <Summary ask={ask} />
    </div>
  );
}
