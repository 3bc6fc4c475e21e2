import { count, day, percent } from '../../format.ts';
import { A } from '../../parts/A.tsx';
import { Chip } from '../../parts/Chip.tsx';
import type { ReferenceBudget } from './budgetDays.ts';

export function BudgetTable({
  references,
  chosen,
  more,
}: {
  references: readonly ReferenceBudget[];
  /** The event group reference whose days the page shows. */
  chosen?: string;
  more: number | undefined;
}) {
  return (
    <>
      <table className="fold dense">
        <thead>
          <tr>
            <th>Reference</th>
            <th>Spent on average and on the fullest day</th>
            <th className="num">Left, fullest day</th>
          </tr>
        </thead>
        <tbody>
          {references.map(({ reference, average, fullest }) => (
            <tr key={reference}>
              <td>
                <A
                  to={`/budget?reference=${encodeURIComponent(reference)}`}
                  className="cut"
                  {...(reference === chosen && { 'aria-current': true })}
                  aria-label={`${reference || 'all'}, day by day`}
                >
                  <code>
                    <bdi>{reference || 'all (earlier version)'}</bdi>
                  </code>
                </A>
              </td>
              <td data-l="Spent">
                <Bar average={average} fullest={fullest} />
              </td>
              <td className="num" data-l="Left">
                <Left share={1 - fullest.share} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more !== undefined && (
        <p className="in-card sm soft">About {count(more)} more requests like the last one fit.</p>
      )}
    </>
  );
}

function Left({ share }: { share: number }) {
  const words = percent(Math.max(0, share), 0);
  return share < 0.1 ? (
    <Chip tone="bad" icon="warn">
      {words}
    </Chip>
  ) : (
    <b>{words}</b>
  );
}

function Bar({ average, fullest }: Pick<ReferenceBudget, 'average' | 'fullest'>) {
  const words = `${percent(average, 0)} on average · ${percent(fullest.share, 0)} on ${day(fullest.date)}`;
  const [mean, most] = [percentOf(average), percentOf(fullest.share)];
  return (
    <span className="bar-in">
      <svg className="plot" height="18" role="img" aria-label={words}>
        <rect className="soft0" x="0" y="4" width="100%" height="10" rx="2" />
        <rect className="f1" x="0" y="4" width={mean} height="10" rx="2" />
        <line className="wh" x1={most} x2={most} y1="0" y2="18" />
      </svg>
      <span className="xs muted">{words}</span>
    </span>
  );
}

const percentOf = (share: number) => `${Math.min(100, share * 100)}%`;
