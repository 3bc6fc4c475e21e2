/** The consumer's home page: resources that need attention, and the newest measurements. */

import { PENDING_MEASUREMENT_STATES } from '@measurement-exchange/contract';
import { useEffect } from 'react';
import { counted } from '../../format.ts';
import { useNow } from '../../live/useNow.ts';
import { useSummary } from '../../live/useSummary.ts';
import { A } from '../../parts/A.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { ErrorNote, Skeleton } from '../../parts/states.tsx';
import { useOwnName } from '../../parts/useOwnName.ts';
import { FirstRun } from './FirstRun.tsx';
import { HEAD, MeasurementCells } from './list/MeasurementCells.tsx';
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
  // Preload the list, because most users open it next.
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
        actions={
          !isFirstRun && (
            <>
              <A className="btn" to="/reports/new">
                New report
              </A>
              <NewMeasurement />
            </>
          )
        }
      />
      {isFirstRun ? <FirstRun /> : <Newest list={list} />}
    </>
  );
}

export function greeting(hour: number): string {
  return hour < 5 ? 'Good night' : hour < 12 ? 'Good morning' : hour < 18 ? 'Good afternoon' : 'Good evening';
}

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
        <tr>{HEAD}</tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <MeasurementCells row={row} now={now} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}
