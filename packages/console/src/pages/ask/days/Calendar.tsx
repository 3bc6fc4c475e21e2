/**
 * A calendar for picking a range of days. Arrow keys move by a day or a week, Home and End move within the week, and
 * PageUp and PageDown move by a month. Enter or Space picks one end of the range and then the other, and Escape
 * cancels.
 */
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { day as dayText } from '../../../format.ts';
import { addMonths, type Day, type DayRange, dayOf, movedDay, rangeOf } from './days.ts';
import { type DayMarks, Month } from './Month.tsx';
import { useMonths } from './useMonths.ts';

export function Calendar({
  range,
  onRange,
  marks,
  now,
}: {
  range: DayRange;
  onRange: (range: DayRange) => void;
  marks: (day: Day) => DayMarks;
  now: Date;
}) {
  const months = useMonths();
  const [focused, setFocused] = useState<Day>();
  /** The first of the two days that the user picks. Undefined before the first pick and after the second pick. */
  const [anchor, setAnchor] = useState<Day>();
  const [hovered, setHovered] = useState<Day>();
  const [last, setLast] = useState<Day>();
  const grids = useRef<HTMLDivElement>(null);
  const shownLast = last ?? lastShown(range, months, dayOf(now));
  const shown = Array.from({ length: months }, (_, i) => addMonths(shownLast, i - months + 1));
  const current = focused ?? range.from;
  const drawn = anchor ? rangeOf(anchor, hovered ?? current) : range;

  useEffect(() => {
    if (focused) grids.current?.querySelector<HTMLElement>(`[data-day="${focused}"]`)?.focus();
  }, [focused]);

  const pick = (day: Day) => {
    setFocused(day);
    setLast(shownLast);
    setAnchor(anchor === undefined ? day : undefined);
    setHovered(undefined);
    if (anchor !== undefined) onRange(rangeOf(anchor, day));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && anchor !== undefined) {
      event.stopPropagation();
      setAnchor(undefined);
    }
    const from = (event.target as HTMLElement).dataset.day;
    const to = from && movedDay(from, event.key, event.shiftKey);
    if (!to) return;
    event.preventDefault();
    setHovered(undefined);
    setFocused(to);
    setLast(monthsWith(to, shown, shownLast));
  };
  return (
    <div className="stack tight">
      <div className="row between months-nav">
        <button type="button" className="btn sm" onClick={() => setLast(addMonths(shownLast, -1))}>
          Earlier
        </button>
        <span className="hint" role="status">
          {anchor
            ? `From ${dayText(anchor)}. Pick the other end, or press Escape.`
            : 'Pick the first and the last day.'}
        </span>
        <button type="button" className="btn sm" onClick={() => setLast(addMonths(shownLast, 1))}>
          Later
        </button>
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: handles the keys of the days inside */}
      <div className="cols c3" ref={grids} onKeyDown={onKeyDown} onMouseLeave={() => setHovered(undefined)}>
        {shown.map((month) => (
          <Month
            key={month.slice(0, 7)}
            {...{ month, marks, today: dayOf(now), range: drawn }}
            tabStop={tabStopOf(month, current, shown)}
            onPick={pick}
            onHover={setHovered}
          />
        ))}
      </div>
    </div>
  );
}

/** Returns a day in the last month to show. The day is in the future only if the range ends in the future. */
function lastShown({ from, until }: DayRange, months: number, today: Day): Day {
  const wanted = addMonths(from, months - 1);
  const latest = until > today ? until : today;
  return wanted < until ? until : [wanted, latest].toSorted()[0]!;
}

function monthsWith(day: Day, shown: readonly Day[], last: Day): Day {
  const month = day.slice(0, 7);
  if (month > shown.at(-1)!.slice(0, 7)) return day;
  return month < shown[0]!.slice(0, 7) ? addMonths(day, shown.length - 1) : last;
}

/**
 * Returns the day that the Tab key focuses. Returns `current` if the calendar shows the month of `current`. Otherwise,
 * returns the first day of `month` if `month` is the first shown month, and undefined for all other months.
 */
function tabStopOf(month: Day, current: Day, shown: readonly Day[]): Day | undefined {
  const isShown = shown.some((other) => other.slice(0, 7) === current.slice(0, 7));
  if (isShown) return current;
  return month === shown[0] ? `${month.slice(0, 7)}-01` : undefined;
}
