/**
 * A long table. Only the rows near the visible area are in the document. In a window of at most 760 px, rows become
 * list items.
 */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** The estimated height of a row in pixels, in a wide and in a narrow window. */
const WIDE = 64;
const NARROW = 180;
/** The number of rows to draw above the visible area, and the number of rows to draw below it. */
const OVERSCAN = 6;
/** More rows are read when fewer than this many rows remain below the drawn rows. */
const NEAR_END = 25;

export function VirtualTable<Row>({
  className = 'rows',
  head,
  rows,
  keyOf,
  onNearEnd,
  children,
}: {
  className?: string;
  /** The cells of the header row. */
  head: ReactNode;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Reads more rows. Undefined if `rows` contains all rows. */
  onNearEnd?: (() => void) | undefined;
  children: (row: Row) => ReactNode;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  useLayoutEffect(() => {
    const top = body.current!.getBoundingClientRect().top + window.scrollY;
    if (Math.abs(top - scrollMargin) > 1) setScrollMargin(top);
  });
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => (window.innerWidth > 760 ? WIDE : NARROW),
    overscan: OVERSCAN,
    scrollMargin,
    // Without an initial size, the first render would have no rows.
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    getItemKey: (i) => keyOf(rows[i]!),
  });
  const items = virtualizer.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  const isNearEnd = (last?.index ?? 0) >= rows.length - NEAR_END;
  // biome-ignore lint/correctness/useExhaustiveDependencies: calls onNearEnd once for each length of the list
  useEffect(() => {
    if (isNearEnd) onNearEnd?.();
  }, [isNearEnd, rows.length]);
  return (
    <table className={`fold ${className}`} aria-rowcount={onNearEnd === undefined ? rows.length + 1 : -1}>
      <thead>
        <tr aria-rowindex={1}>{head}</tr>
      </thead>
      <tbody ref={body}>
        <Gap height={first ? first.start - scrollMargin : 0} />
        {items.map(({ index, key }) => (
          <tr key={key} data-index={index} ref={virtualizer.measureElement} aria-rowindex={index + 2}>
            {children(rows[index]!)}
          </tr>
        ))}
        <Gap height={last ? virtualizer.getTotalSize() - (last.end - scrollMargin) : 0} />
      </tbody>
    </table>
  );
}

/** An empty row that takes the space of the rows that are not in the document. */
function Gap({ height }: { height: number }) {
  if (height <= 0) return null;
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a plain row cannot receive focus
  return <tr className="spacer" aria-hidden="true" style={{ height }} />;
}
