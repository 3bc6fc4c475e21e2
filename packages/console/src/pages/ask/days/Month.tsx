/** One month in the calendar. */
import { seriesAt } from '../../../charts/index.ts';
import type { Publisher } from '../../../parts/Publisher.tsx';
import { addDays, type Day, type DayRange, isWithin, weeksOf } from './days.ts';
import type { Recorded } from './recorded.ts';

export type DayMarks = readonly { publisher: Publisher; recorded: Recorded }[];

const WEEKDAYS = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'];
const MONTH = new Intl.DateTimeFormat('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' });
const LONG = new Intl.DateTimeFormat('en-US', {
  month: 'long',
  day: 'numeric',
  year: 'numeric',
  timeZone: 'UTC',
});

interface DayProps {
  range: DayRange;
  marks: (day: Day) => DayMarks;
  today: Day;
  tabStop: Day | undefined;
  onPick: (day: Day) => void;
  onHover: (day: Day) => void;
}

export function Month({ month, ...props }: DayProps & { month: Day }) {
  const title = MONTH.format(new Date(month));
  return (
    <div>
      <h3>{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table of days is a grid */}
      <table className="cal" role="grid" aria-label={title} aria-multiselectable="true">
        <thead>
          <tr>
            {WEEKDAYS.map((weekday) => (
              <th key={weekday} scope="col">
                {weekday}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(month).map((week, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the weeks of a month keep their order
            <tr key={i}>
              {week.map((day, i) =>
                // biome-ignore lint/suspicious/noArrayIndexKey: a week has seven places
                day === undefined ? <td key={i} /> : <DayCell key={day} day={day} {...props} />,
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function DayCell({ day, range, marks, today, tabStop, onPick, onHover }: DayProps & { day: Day }) {
  const recorded = marks(day);
  const isIn = isWithin(day, range);
  const isEnd = day === range.from || day === range.until;
  const isLeft = day === range.from || !isWithin(addDays(day, -1), range);
  const isRight = day === range.until || !isWithin(addDays(day, 1), range);
  const isOff = day > today || (recorded.length > 0 && recorded.every((mark) => mark.recorded === 'none'));
  const classes = [
    'd',
    isIn && 'in-r',
    isEnd && 'end',
    isIn && isLeft && 'l',
    isIn && isRight && 'r',
    isOff && !isEnd && 'off',
  ];
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: a cell of a grid can be selected
    <td aria-selected={isIn}>
      <button
        type="button"
        className={classes.filter(Boolean).join(' ')}
        data-day={day}
        tabIndex={day === tabStop ? 0 : -1}
        aria-label={labelOf(day, recorded, day > today)}
        onClick={() => onPick(day)}
        onMouseEnter={() => onHover(day)}
      >
        {Number(day.slice(8))}
        <Marks marks={recorded} />
      </button>
    </td>
  );
}

function labelOf(day: Day, marks: DayMarks, isFuture: boolean): string {
  const date = LONG.format(new Date(day));
  if (isFuture) return `${date}: in the future`;
  if (marks.length === 0) return date;
  const [whole, part] = (['all', 'part'] as const).map(
    (of) => marks.filter(({ recorded }) => recorded === of).length,
  );
  const partly = part === 0 ? '' : `, ${part} in part`;
  return `${date}: ${whole} of ${marks.length} publishers have data${partly}`;
}

/** The number of different shapes. If there are more publishers than shapes, a day shows a number instead. */
const SHAPES = 4;

/**
 * Draws the shape of each publisher: filled for a recorded day, pale for a partly recorded day, and an outline for an
 * unrecorded day. For more than SHAPES publishers, shows how many of them have recorded the whole day, such as `5/7`.
 */
function Marks({ marks }: { marks: DayMarks }) {
  if (marks.length === 0) return null;
  if (marks.length > SHAPES) {
    const whole = marks.filter(({ recorded }) => recorded === 'all').length;
    return (
      <small>
        {whole}/{marks.length}
      </small>
    );
  }
  return (
    <svg viewBox={`0 0 ${marks.length * 9} 9`} aria-hidden="true">
      {marks.map(({ publisher, recorded }, i) => (
        <Shape key={publisher.name} index={publisher.index} recorded={recorded} x={i * 9} />
      ))}
    </svg>
  );
}

function Shape({ index, recorded, x }: { index: number; recorded: Recorded; x: number }) {
  const { hue, shape } = seriesAt(index);
  const name = recorded === 'all' ? `f${hue}` : recorded === 'part' ? `f${hue} part` : 'miss';
  if (recorded === 'unknown') return null;
  if (shape === 'circle') return <circle className={name} cx={x + 4.5} cy="4.5" r="2.6" />;
  if (shape === 'square') return <rect className={name} x={x + 2} y="2" width="5" height="5" />;
  if (shape === 'triangle') return <path className={name} d={`M${x + 4.5} 1.6 ${x + 7.5} 7h-6z`} />;
  return <path className={name} d={`M${x + 4.5} 1 ${x + 8} 4.5 ${x + 4.5} 8 ${x + 1} 4.5z`} />;
}
