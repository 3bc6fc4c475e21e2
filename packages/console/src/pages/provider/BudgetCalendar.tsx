import { calendarChart } from '../../charts/index.ts';
import { Chart } from '../../parts/Chart.tsx';
import { isolated } from '../../parts/names.ts';
import { monthsOf, type ReferenceBudget } from './budgetDays.ts';

const MONTHS = 3;

export function BudgetCalendar({ budget: { reference, days } }: { budget: ReferenceBudget }) {
  const months = monthsOf(days);
  const [latest, earlier] = [months.slice(0, MONTHS), months.slice(MONTHS)];
  const title = reference === '' ? 'All references, day by day' : `${isolated(reference)}, day by day`;
  const chart = (shown: typeof months) => (
    <Chart chart={calendarChart(title, shown.toReversed().flat(), 'spent', 'nothing spent')} file="budget" />
  );
  return (
    <>
      <h3>{title}</h3>
      {chart(latest)}
      <Legend />
      {earlier.length > 0 && (
        <details>
          <summary className="sm">Earlier months</summary>
          {chart(earlier)}
        </details>
      )}
    </>
  );
}

const LEVELS = [
  ['h0', '0–5'],
  ['h1', '6–25'],
  ['h2', '26–45'],
  ['h3', '46–65'],
  ['h4', '66–90'],
  ['h5', 'over 90, red frame'],
  ['nope', 'dashed: nothing spent'],
] as const;

function Legend() {
  return (
    <div className="legend">
      <span>Percent of the day's limit that is spent:</span>
      {LEVELS.map(([level, words]) => (
        <span key={level}>
          <svg viewBox="0 0 18 11" aria-hidden="true">
            <rect className={level} width="18" height="11" rx="2" />
          </svg>
          {words}
        </span>
      ))}
    </div>
  );
}
