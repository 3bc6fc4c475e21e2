/** The consumer's first page: what needs attention, and the newest measurements. */

import { PENDING_MEASUREMENT_STATES } from '@measurement-exchange/contract';
import { useEffect } from 'react';
import { useNow } from '../../live/useNow.ts';
import { useResource } from '../../live/useResource.ts';
import { useSummary } from '../../live/useSummary.ts';
import { A } from '../../parts/A.tsx';
import { counted } from '../../parts/format.ts';
import { capital } from '../../parts/names.ts';
import { PageHead } from '../../parts/PageHead.tsx';
import { ErrorNote, Skeleton } from '../../parts/states.tsx';
import { idOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';
import { FirstRun } from './FirstRun.tsx';
import { COLUMNS, MeasurementRow } from './list/MeasurementRow.tsx';
import type { Row } from './list/rows.ts';
import { type MeasurementList, useMeasurementList } from './list/useMeasurementList.ts';
import './list/list.css';
import { Scale } from './list/Scale.tsx';
import { Stale } from './list/Stale.tsx';
import { NeedsAttention } from './NeedsAttention.tsx';
import { NewMeasurement } from './NewMeasurement.tsx';

const NEWEST = 8;
const OPEN: readonly string[] = PENDING_MEASUREMENT_STATES;
const ALL = {};
const TODAY = new Intl.DateTimeFormat('en-US', {
  weekday: 'long',
  month: 'long',
  day: 'numeric',
  year: 'numeric',
});

export default function Home() {
  // Most people open the list next, and it should not wait for its file then.
  useEffect(() => {
    void import('./Measurements.tsx');
  }, []);
  const list = useMeasurementList(ALL);
  const isFirstRun = list.rows?.length === 0;
  return (
    <>
      <PageHead
        title={`${greeting(new Date().getHours())}, ${useOwnName()}`}
        meta={[...stateOf(list), ...useCounts(), TODAY.format(new Date())]}
        actions={!isFirstRun && <NewMeasurement />}
      />
      {isFirstRun ? <FirstRun /> : <Newest list={list} />}
    </>
  );
}

export function greeting(hour: number): string {
  return hour < 5 ? 'Good night' : hour < 12 ? 'Good morning' : hour < 18 ? 'Good afternoon' : 'Good evening';
}

function useOwnName(): string {
  const { principal } = useSession();
  const { data } = useResource('measurementConsumers', ['own'], ({ client, principal }, signal) =>
    client.getParty({ name: principal, signal }),
  );
  return data?.displayName || capital(idOf(principal));
}

/** Counts of what is open and of what needs attention. */
function useCounts(): string[] {
  const { attention = [], measurements } = useSummary().data ?? {};
  const open = (measurements?.states ?? [])
    .filter(({ state }) => OPEN.includes(state))
    .reduce((sum, { count }) => sum + count, 0);
  return [
    ...(attention.length > 0
      ? [`${counted(attention.length, 'thing')} ${attention.length === 1 ? 'needs' : 'need'} you`]
      : []),
    ...(open > 0 ? [`${counted(open, 'measurement')} ${open === 1 ? 'is' : 'are'} open`] : []),
  ];
}

function stateOf({ rows, error }: MeasurementList): string[] {
  if (rows === undefined) return [error ? 'The exchange does not answer' : 'Loading'];
  return rows.length === 0 ? ['Nothing asked yet'] : [];
}

function Newest({ list }: { list: MeasurementList }) {
  const { rows, error } = list;
  return (
    <>
      <NeedsAttention />
      {error && rows && <Stale error={error} list={list} />}
      <section className="stack">
        <div className="row between">
          <div className="row">
            <h2>Measurements</h2>
            <span className="muted sm">newest first</span>
          </div>
          <A to="/measurements">Show all</A>
        </div>
        <div className="card">
          {rows && <NewestRows rows={rows.slice(0, NEWEST)} />}
          {!rows && (
            <div className="in-card">
              {error ? <ErrorNote error={error} retry={list.readAgain} /> : <Skeleton rows={6} />}
            </div>
          )}
          <footer>
            <Scale />
          </footer>
        </div>
      </section>
    </>
  );
}

function NewestRows({ rows }: { rows: Row[] }) {
  const now = useNow(10_000);
  return (
    <table className="fold measurements">
      <thead>
        <tr>
          {COLUMNS.map((column) => (
            <th key={column} className={/Result|Changed/.test(column) ? 'num' : undefined}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <MeasurementRow key={row.name} row={row} now={now} />
        ))}
      </tbody>
    </table>
  );
}
