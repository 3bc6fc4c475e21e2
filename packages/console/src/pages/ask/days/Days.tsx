/** The step of the form that picks the days to count. */
import { useCallback, useId, useRef } from 'react';
import { Swatch } from '../../../parts/Chart.tsx';
import { Icon } from '../../../parts/Icon.tsx';
import { Step } from '../form/Step.tsx';
import type { Picking } from '../form/usePicking.ts';
import { Calendar } from './Calendar.tsx';
import { countOf, type Day, type DayRange } from './days.ts';
import { campaignRange, lastDays, lastMonth, recordedOn } from './recorded.ts';
import { unrecordedOf } from './unrecorded.ts';

export function Days({ ask }: { ask: Picking }) {
  const { publishers, days, change, now } = ask;
  const marks = useCallback(
    (at: Day) =>
      publishers.map(({ groups, ...publisher }) => ({
        publisher,
        recorded: recordedOn(
          at,
          groups.map((group) => group.dataAvailabilityInterval),
          now,
        ),
      })),
    [publishers, now],
  );
  const onRange = (days: DayRange) => change({ days });
  return (
    <Step
      id="days"
      number={3}
      title="Days"
      hint="Marks under a day show which publishers have recorded it. All days are in UTC."
      done
    >
      <Ends days={days} onRange={onRange} />
      <Presets ask={ask} onRange={onRange} />
      <Calendar range={days} onRange={onRange} marks={marks} now={now} />
      <Legend ask={ask} />
      <Missing ask={ask} />
    </Step>
  );
}

function Ends({ days, onRange }: { days: DayRange; onRange: (range: DayRange) => void }) {
  const [from, until] = [useId(), useId()];
  // A date field reports each typed digit. The other day is therefore that from before typing.
  const before = useRef(days);
  const remember = () => {
    before.current = days;
  };
  return (
    <div className="row ends">
      <div className="field">
        <label htmlFor={from}>From</label>
        <input
          className="in"
          type="date"
          id={from}
          value={days.from}
          onFocus={remember}
          onChange={({ target }) => isDay(target.value) && onRange(withFrom(target.value, before.current))}
        />
      </div>
      <div className="field">
        <label htmlFor={until}>Until</label>
        <input
          className="in"
          type="date"
          id={until}
          value={days.until}
          onFocus={remember}
          onChange={({ target }) => isDay(target.value) && onRange(withUntil(target.value, before.current))}
        />
      </div>
      <span className="hint">{countOf(days) === 1 ? '1 day' : `${countOf(days)} days`}</span>
    </div>
  );
}

/** Returns whether a date field has a complete date. While a year is typed, the field has a year below 1000. */
const isDay = (text: string) => text >= '1970';

/** If the new first day is after the last day, or the new last day is before the first day, both become the new day. */
const withFrom = (from: Day, { until }: DayRange) => ({ from, until: from > until ? from : until });
const withUntil = (until: Day, { from }: DayRange) => ({ from: until < from ? until : from, until });

function Presets({ ask: { picked, now }, onRange }: { ask: Picking; onRange: (range: DayRange) => void }) {
  const whole = campaignRange(
    picked.map((group) => group.dataAvailabilityInterval),
    now,
  );
  return (
    <div className="acts">
      <button type="button" className="btn sm" onClick={() => onRange(lastDays(28, now))}>
        Last 28 days
      </button>
      <button type="button" className="btn sm" onClick={() => onRange(lastMonth(now))}>
        Last month
      </button>
      {whole && (
        <button type="button" className="btn sm" onClick={() => onRange(whole)}>
          All days with data
        </button>
      )}
    </div>
  );
}

function Legend({ ask: { publishers } }: { ask: Picking }) {
  if (publishers.length === 0 || publishers.length > 4) return null;
  return (
    <div className="legend">
      {publishers.map(({ name, label, index }) => (
        <span key={name}>
          <Swatch index={index} />
          <span>
            <bdi>{label}</bdi> has data
          </span>
        </span>
      ))}
      <span>
        <svg viewBox="0 0 18 11" className="cal" aria-hidden="true">
          <rect className="miss" x="4" y="1.5" width="8" height="8" />
        </svg>
        outline: no data, pale: in part
      </span>
    </div>
  );
}

/** Names the publishers that lack data for some of the days. A button removes missing days at the end of the range. */
function Missing({ ask: { publishers, days, now, change } }: { ask: Picking }) {
  return unrecordedOf(publishers, days, now).map(({ title, detail, rest }) => (
    <div key={title} className="note warn">
      <Icon name="warn" />
      <div>
        <b>{title}.</b> {detail}{' '}
        {rest && (
          <button type="button" className="bare link" onClick={() => change({ days: rest })}>
            Leave out these days
          </button>
        )}
      </div>
    </div>
  ));
}
