import type { AuditEntry } from '@measurement-exchange/contract';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { moment } from '../../../format.ts';
import { Breakable } from '../../../parts/Breakable.tsx';
import { PartyLink } from '../PartyLink.tsx';
import { auditWords } from './words.ts';

/** The rows of the log. Only the rows near the visible area are in the document, because the log may be long. */
export function AuditRows({ entries, onEnd }: { entries: readonly AuditEntry[]; onEnd: () => void }) {
  const list = useRef<HTMLOListElement>(null);
  const rows = useWindowVirtualizer({
    count: entries.length,
    estimateSize: () => 58,
    overscan: 12,
    scrollMargin: list.current?.offsetTop ?? 0,
  });
  const visible = rows.getVirtualItems();
  const last = visible.at(-1)?.index ?? 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: calls onEnd once for each end that is reached
  useEffect(() => {
    if (last >= entries.length - 20) onEnd();
  }, [last, entries.length]);
  return (
    <ol ref={list} className="log-rows" style={{ height: rows.getTotalSize() }}>
      {visible.map(({ key, index, start }) => (
        <AuditRow
          key={key}
          entry={entries[index]!}
          index={index}
          top={start - rows.options.scrollMargin}
          measure={rows.measureElement}
        />
      ))}
    </ol>
  );
}

function AuditRow({
  entry: { time, principal, operation, name, requestId },
  index,
  top,
  measure,
}: {
  entry: AuditEntry;
  index: number;
  top: number;
  measure: (element: HTMLElement | null) => void;
}) {
  return (
    <li ref={measure} data-index={index} className="log-row" style={{ transform: `translateY(${top}px)` }}>
      <time dateTime={time}>{moment(time)}</time>
      <div>
        <b>{auditWords(operation)}</b>{' '}
        <span className="muted">
          by <PartyLink name={principal} />
        </span>
        <span className="sub mono">
          <Breakable text={name} />
        </span>
      </div>
      <span className="xs muted mono" title="Request">
        {requestId}
      </span>
    </li>
  );
}
