/** All measurements of a consumer, newest first. The page's address contains the filter. */
import type { MeasurementState } from '@measurement-exchange/contract';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { count } from '../../format.ts';
import { useNow } from '../../live/useNow.ts';
import { A } from '../../parts/A.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Segment } from '../../parts/Segment.tsx';
import { Empty, ErrorNote, Skeleton } from '../../parts/states.tsx';
import { VirtualTable } from '../../parts/VirtualTable.tsx';
import { idOf } from '../../session/roles.ts';
import './list/list.css';
import { HEAD, MeasurementCells } from './list/MeasurementCells.tsx';
import { Scale } from './list/Scale.tsx';
import { Stale } from './list/Stale.tsx';
import { type MeasurementList, useMeasurementList } from './list/useMeasurementList.ts';
import { NewMeasurement } from './NewMeasurement.tsx';

const VIEWS: Record<string, { text: string; states?: MeasurementState[] }> = {
  all: { text: 'All' },
  open: { text: 'Open', states: ['AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING'] },
  done: { text: 'Succeeded', states: ['SUCCEEDED'] },
  failed: { text: 'Failed', states: ['FAILED'] },
  canceled: { text: 'Canceled', states: ['CANCELLED'] },
};
const MAX_COMPARED = 6;

export default function Measurements() {
  const { show = 'all', reference } = useSearch({ strict: false }) as { show?: string; reference?: string };
  const view = Object.hasOwn(VIEWS, show) ? show : 'all';
  const { states } = VIEWS[view]!;
  const filter = useMemo(() => ({ states, reference }), [states, reference]);
  const list = useMeasurementList(filter);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const choose = useCallback((name: string, isChosen: boolean) => {
    setChosen((before) => {
      const after = new Set(before);
      if (isChosen) after.add(name);
      else after.delete(name);
      return after;
    });
  }, []);
  return (
    <>
      <PageHead title="Measurements" meta={['Newest first', ...amount(list)]} actions={<NewMeasurement />} />
      <div className="row between toolbar">
        <Segment
          label="Filter"
          options={Object.entries(VIEWS).map(([key, { text }]) => ({
            to: addressOf(key, reference),
            text,
            current: key === view,
          }))}
        />
        <div className="acts">
          {chosen.size > 0 && <Compare names={[...chosen]} clear={() => setChosen(new Set())} />}
          <ReferenceFilter key={reference} view={view} reference={reference} />
        </div>
      </div>
      {list.error && list.rows && <Stale error={list.error} list={list} />}
      <div className="card">
        <Rows
          list={list}
          chosen={chosen}
          choose={choose}
          isFiltered={view !== 'all' || reference !== undefined}
        />
        <footer>
          <Scale />
        </footer>
      </div>
    </>
  );
}

function addressOf(view: string, reference: string | undefined): string {
  const query = new URLSearchParams({
    ...(view !== 'all' && { show: view }),
    ...(reference && { reference }),
  });
  return query.size === 0 ? '/measurements' : `/measurements?${query}`;
}

function amount({ rows, isComplete }: MeasurementList): string[] {
  if (rows === undefined || rows.length === 0) return [];
  return [isComplete ? `${count(rows.length)} in all` : `${count(rows.length)} loaded, more below`];
}

function Rows({
  list,
  chosen,
  choose,
  isFiltered,
}: {
  list: MeasurementList;
  chosen: ReadonlySet<string>;
  choose: (name: string, isChosen: boolean) => void;
  isFiltered: boolean;
}) {
  const now = useNow(10_000);
  if (list.rows === undefined) {
    return (
      <div className="in-card">
        {list.error ? <ErrorNote error={list.error} retry={list.readAgain} /> : <Skeleton rows={8} />}
      </div>
    );
  }
  if (list.rows.length > 0) {
    return (
      <VirtualTable
        className="measurements"
        head={HEAD}
        rows={list.rows}
        keyOf={({ name }) => name}
        onNearEnd={list.isComplete ? undefined : list.readMore}
      >
        {(row) => <MeasurementCells row={row} now={now} isChosen={chosen.has(row.name)} choose={choose} />}
      </VirtualTable>
    );
  }
  if (isFiltered) {
    return (
      <Empty title="No such measurement">
        <p>
          Nothing matches this filter. <A to="/measurements">Show all</A>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing asked yet">
      <p>Pick publishers, pick the days, and see how exact the answer will be before you send anything.</p>
      <NewMeasurement />
    </Empty>
  );
}

function Compare({ names, clear }: { names: string[]; clear: () => void }) {
  const ids = names.slice(0, MAX_COMPARED).map(idOf);
  return (
    <>
      {names.length >= 2 && (
        <A className="btn" to={`/compare?names=${ids.join(',')}`}>
          Compare {ids.length}
        </A>
      )}
      <button type="button" className="btn plain" onClick={clear}>
        Clear {count(names.length)} chosen
      </button>
    </>
  );
}

function ReferenceFilter({ view, reference = '' }: { view: string; reference?: string | undefined }) {
  const navigate = useNavigate();
  const [text, setText] = useState(reference);
  const apply = () => {
    const [, query = ''] = addressOf(view, text.trim() || undefined).split('?');
    void navigate({
      to: '/measurements' as '.',
      search: Object.fromEntries(new URLSearchParams(query)) as never,
    });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <input
        className="in"
        type="search"
        aria-label="Only with this reference"
        placeholder="Find a reference"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    </form>
  );
}
