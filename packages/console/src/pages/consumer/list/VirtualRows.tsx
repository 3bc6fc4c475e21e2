/** A table of which only the visible rows are drawn. Further pages are read as one scrolls. */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useNow } from '../../../live/useNow.ts';
import { COLUMNS, MeasurementRow } from './MeasurementRow.tsx';
import type { MeasurementList } from './useMeasurementList.ts';
import './list.css';

const WIDE = 68;
const NARROW = 190;
/** The next page is read when this many rows are left below. */
const READ_AHEAD = 25;

export function VirtualRows({
  list,
  chosen,
  choose,
}: {
  list: MeasurementList;
  chosen: ReadonlySet<string>;
  choose: (name: string, isChosen: boolean) => void;
}) {
  const rows = list.rows ?? [];
  const now = useNow(10_000);
  const body = useRef<HTMLTableSectionElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  useLayoutEffect(() => {
    const top = body.current!.getBoundingClientRect().top + window.scrollY;
    if (Math.abs(top - scrollMargin) > 1) setScrollMargin(top);
  });
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => (window.innerWidth > 760 ? WIDE : NARROW),
    overscan: 6,
    scrollMargin,
    getItemKey: (i) => rows[i]!.name,
  });
  const items = virtual.getVirtualItems();
  const lastDrawn = items.at(-1)?.index ?? 0;
  const isNearEnd = lastDrawn >= rows.length - READ_AHEAD;
  const { readMore } = list;
  // biome-ignore lint/correctness/useExhaustiveDependencies: asks again whenever the end comes near or a page has arrived
  useEffect(() => {
    if (isNearEnd) readMore();
  }, [isNearEnd, rows.length]);
  const above = (items[0]?.start ?? scrollMargin) - scrollMargin;
  const below = virtual.getTotalSize() - ((items.at(-1)?.end ?? scrollMargin) - scrollMargin);
  return (
    <table className="fold measurements" aria-rowcount={list.isComplete ? rows.length + 1 : -1}>
      <thead>
        <tr aria-rowindex={1}>
          {COLUMNS.map((column) => (
            <th key={column} className={/Result|Changed/.test(column) ? 'num' : undefined}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        <Spacer height={above} />
        {items.map(({ index, key }) => (
          <MeasurementRow
            key={key}
            row={rows[index]!}
            index={index}
            now={now}
            rowRef={virtual.measureElement}
            isChosen={chosen.has(rows[index]!.name)}
            choose={choose}
          />
        ))}
        <Spacer height={below} />
      </tbody>
    </table>
  );
}

function Spacer({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tr className="spacer">
      <td colSpan={COLUMNS.length} style={{ height }} />
    </tr>
  );
}
