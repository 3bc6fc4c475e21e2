/** A table of any length: only the rows near the window are in the document. Below 760 px it folds to a list. */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import './table.css';

/** The usual height of a row, and of a row that is folded to a list. */
const WIDE = 60;
const NARROW = 170;
/** More rows are read once the reader is this close to the last one. */
const NEAR_END = 20;

export function VirtualTable<Row>({
  head,
  rows,
  keyOf,
  onNearEnd,
  children,
}: {
  /** The cells of the head. */
  head: ReactNode;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  onNearEnd?: () => void;
  /** The cells of a row. */
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
    overscan: 12,
    scrollMargin,
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    getItemKey: (i) => keyOf(rows[i]!),
  });
  const items = virtualizer.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  const isNearEnd = (last?.index ?? 0) >= rows.length - NEAR_END;
  // biome-ignore lint/correctness/useExhaustiveDependencies: asks once for each length of the list
  useEffect(() => {
    if (isNearEnd) onNearEnd?.();
  }, [isNearEnd, rows.length]);
  return (
    <table className="fold rows" aria-rowcount={rows.length + 1}>
      <thead>
        <tr>{head}</tr>
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

/** Stands for the rows that are not in the document. */
function Gap({ height }: { height: number }) {
  return height > 0 ? <tr style={{ height }} /> : null;
}
