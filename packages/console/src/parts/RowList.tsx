import type { ReactNode } from 'react';
import { count } from '../format.ts';
import type { Pages } from '../live/usePages.ts';
import { ErrorNote, Skeleton } from './states.tsx';

/** Shows a list that is read page by page. Until the first page arrives, shows the loading state or the error. */
export function RowList<Row>({
  pages,
  empty,
  isGlance = false,
  children,
}: {
  pages: Pages<Row>;
  empty: ReactNode;
  /** True if another page shows the whole list. The number of rows is then not shown. */
  isGlance?: boolean;
  /** Shows the rows. `readMore` is undefined if there are no more rows. */
  children: (rows: Row[], readMore: (() => void) | undefined) => ReactNode;
}) {
  const { rows, error, isComplete, isStale, readAgain, readMore } = pages;
  if (rows === undefined) {
    return (
      <div className="in-card">
        {error ? <ErrorNote error={error} retry={readAgain} /> : <Skeleton rows={8} />}
      </div>
    );
  }
  if (rows.length === 0) return empty;
  return (
    <>
      {error && <ErrorNote error={error} retry={readAgain} />}
      {children(rows, isComplete ? undefined : readMore)}
      {!isGlance && (
        <footer>
          <span role="status">
            {isComplete ? `${count(rows.length)} in all` : `The first ${count(rows.length)}. Scroll for more`}
          </span>
          {isStale && (
            <button type="button" className="btn sm" onClick={readAgain}>
              The list has changed. Read it again
            </button>
          )}
        </footer>
      )}
    </>
  );
}
