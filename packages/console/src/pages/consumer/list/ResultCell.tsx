/** The result of a measurement in a list: the figure, its ±, and the interval on a scale that all rows share. */
import { useResult } from '../../../companion/useOpened.ts';
import { isBounded, mainFigure, marginOf } from '../../../parts/estimate.ts';
import { count } from '../../../parts/format.ts';
import { RelativeWhisker } from '../../../parts/Whisker.tsx';
import { useSession } from '../../../session/session.ts';
import type { Row } from './rows.ts';

export function ResultCell({ row, isSettled }: { row: Row; isSettled: boolean }) {
  const { companion } = useSession();
  const isOpened = row.state === 'SUCCEEDED' && !row.isRemoved;
  const { data, error } = useResult(row.name, { enabled: isSettled && isOpened });
  if (!isOpened)
    return (
      <Muted
        text={
          row.state === 'AWAITING_REQUISITION_FULFILLMENT' || row.state === 'COMPUTING' ? 'not yet' : 'none'
        }
      />
    );
  if (companion === undefined) return <Muted text="sealed" />;
  if (error) return <Muted text="cannot be opened" />;
  if (data === undefined) return <span className="sk w3" />;
  const figure = data.result && mainFigure(data.result);
  if (figure === undefined) return <span className="bad">not verified</span>;
  if (Array.isArray(figure)) {
    return (
      <span className="num">
        <b>
          {count(figure[0])} – {count(figure[1])}
        </b>
        <span className="sub">each publisher alone</span>
      </span>
    );
  }
  const { estimate, show } = figure;
  return (
    <span className="bar-in">
      <span className="num">
        <b>{show(estimate.value)}</b>{' '}
        <span className="xs muted">
          {isBounded(estimate) ? `± ${show(marginOf(estimate))}` : '± unknown'}
        </span>
      </span>
      {isBounded(estimate) && <RelativeWhisker {...estimate} />}
    </span>
  );
}

function Muted({ text }: { text: string }) {
  return <span className="muted">{text}</span>;
}
